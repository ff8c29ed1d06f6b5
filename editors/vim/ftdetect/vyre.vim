" SPDX-License-Identifier: MIT
autocmd BufRead,BufNewFile *.vyre setfiletype vyre
