" SPDX-License-Identifier: MIT
if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1
setlocal commentstring=//\ %s comments=:// expandtab shiftwidth=2 softtabstop=2 textwidth=100
setlocal suffixesadd=.vyre
if executable('vyre')
  setlocal formatprg=vyre\ fmt\ -
  setlocal makeprg=vyre\ check\ %:S
  setlocal errorformat=%f:%l:%c:\ error[%.%#]:\ %m,%-G%.%#
endif
let b:undo_ftplugin = 'setlocal commentstring< comments< expandtab< shiftwidth< softtabstop< textwidth< suffixesadd< formatprg< makeprg< errorformat<'
