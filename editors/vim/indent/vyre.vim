" SPDX-License-Identifier: MIT
" As `vyre fmt` lays out: two per brace, four more where a line goes on.
if exists('b:did_indent')
  finish
endif
let b:did_indent = 1
setlocal indentexpr=VyreIndent() indentkeys=0{,0},0),0],!^F,o,O
let b:undo_indent = 'setlocal indentexpr< indentkeys<'

if exists('*VyreIndent')
  finish
endif

function s:Code(number)
  return substitute(getline(a:number), '//.*$', '', '')
endfunction

function s:GoesOn(code)
  return a:code =~# '[-+*/%&|^<>=!~?:,.([]\s*$'
endfunction

function VyreIndent()
  let last = prevnonblank(v:lnum - 1)
  if last == 0
    return 0
  endif
  let code = s:Code(last)
  let first = last
  while first > 1 && s:GoesOn(s:Code(first - 1))
    let first -= 1
  endwhile
  let indent = indent(first)
  if s:GoesOn(code)
    return indent + 4
  endif
  if code =~# '{\s*$'
    let indent += 2
  endif
  if getline(v:lnum) =~# '^\s*}'
    let indent -= 2
  endif
  return indent
endfunction
