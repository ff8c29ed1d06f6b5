# SPDX-License-Identifier: MIT
#
# Completion of `vyre` for fish.

function __vyre_names
    for word in (commandline -opc)[3..-1]
        if test -f $word
            vyre info $word 2>/dev/null | awk '/^(parameters|buffers)$/ { on = 1; next } /^$/ { on = 0 } on && !/ transient/ { print $1 }'
            return
        end
    end
end

function __vyre_backends
    vyre devices 2>/dev/null | sed -n 's/^\([a-z]*\):.*/\1/p'
end

function __vyre_forms
    vyre compile --list 2>/dev/null | awk '{ print $1 }'
end

function __vyre_passes
    vyre opt --list 2>/dev/null | awk 'NR > 1 { print $1 }'
end

set -l commands check fmt info convert opt compile run devices conform certify tune explain profile report bench cache lsp help
set -l none "not __fish_seen_subcommand_from $commands"
complete -c vyre -n $none -f -a check -d "say whether programs are well-formed"
complete -c vyre -n $none -f -a fmt -d "lay a program's text out"
complete -c vyre -n $none -f -a info -d "parameters, buffers, regions, statistics, fingerprint"
complete -c vyre -n $none -f -a convert -d "turn OpenCL C, text form or wire form into text or wire form"
complete -c vyre -n $none -f -a opt -d "optimize a program, and say what was done and why"
complete -c vyre -n $none -f -a compile -d "show what a program becomes: OpenCL C, LLVM, assembly"
complete -c vyre -n $none -f -a run -d "run a program on data"
complete -c vyre -n $none -f -a devices -d "list backends and devices, and why one is missing"
complete -c vyre -n $none -f -a conform -d "compare backends with the reference, bit for bit"
complete -c vyre -n $none -f -a certify -d "measure which backend runs a program fastest, and keep it"
complete -c vyre -n $none -f -a tune -d "measure which launch shape or configuration is fastest, and keep it"
complete -c vyre -n $none -f -a explain -d "what was decided for a program, why, what would change it"
complete -c vyre -n $none -f -a profile -d "look at, ship or forget what was measured"
complete -c vyre -n $none -f -a report -d "draw what was learned as a page for a browser"
complete -c vyre -n $none -f -a bench -d "time a program on every backend and tier, beside peers"
complete -c vyre -n $none -f -a cache -d "show or clear the compiled programs on disk"
complete -c vyre -n $none -f -a lsp -d "serve an editor: mistakes, types, definitions, layout"
complete -c vyre -n $none -f -a help -d "how to use a command"
complete -c vyre -n $none -f -l version -d "the version"
complete -c vyre -l json -d "results and errors as JSON"
complete -c vyre -l help -d "how to use the command"

complete -c vyre -n "__fish_seen_subcommand_from check" -s q -l quiet -d "only mistakes"
complete -c vyre -n "__fish_seen_subcommand_from check info convert opt compile run certify tune" -l language -x -a "text wire opencl" -d "of the source"
complete -c vyre -n "__fish_seen_subcommand_from check info convert opt compile" -l workgroup -x -d "of an OpenCL C kernel"
complete -c vyre -n "__fish_seen_subcommand_from fmt" -s w -l write -d "change the files"
complete -c vyre -n "__fish_seen_subcommand_from run" -l steps -x -d "each on what the one before left"
complete -c vyre -n "__fish_seen_subcommand_from run" -l swap -x -d "buffers that change places between steps"
complete -c vyre -n "__fish_seen_subcommand_from run" -l checkpoint -r -d "keep there what steps left"
complete -c vyre -n "__fish_seen_subcommand_from run" -l every -x -d "steps between checkpoints"
complete -c vyre -n "__fish_seen_subcommand_from run" -l resume -d "go on from the checkpoint"
complete -c vyre -n "__fish_seen_subcommand_from run" -l alone -d "whatever mpirun says"
complete -c vyre -n "__fish_seen_subcommand_from run" -s c -l check -d "watch the run: bounds, races, barriers, divisions"
complete -c vyre -n "__fish_seen_subcommand_from fmt" -s c -l check -d "only name unformatted files"
complete -c vyre -n "__fish_seen_subcommand_from convert" -s o -l output -r -d "where to write"
complete -c vyre -n "__fish_seen_subcommand_from convert" -s t -l to -x -a "text wire" -d "the form"
complete -c vyre -n "__fish_seen_subcommand_from opt" -s p -l passes -x -a "(__vyre_passes)" -d "exactly these passes"
complete -c vyre -n "__fish_seen_subcommand_from opt" -s f -l profile -x -a "release dataflow megakernel" -d "profiles"
complete -c vyre -n "__fish_seen_subcommand_from opt" -s e -l everything -d "every pass"
complete -c vyre -n "__fish_seen_subcommand_from opt" -l learned -d "go by what runs have shown"
complete -c vyre -n "__fish_seen_subcommand_from opt" -s r -l report -d "decisions, runs, gains"
complete -c vyre -n "__fish_seen_subcommand_from opt" -l dump-after -x -a "(__vyre_passes)" -d "print after this pass"
complete -c vyre -n "__fish_seen_subcommand_from opt" -l stop-after -x -d "stop after runs"
complete -c vyre -n "__fish_seen_subcommand_from opt" -s l -l list -d "the passes"
complete -c vyre -n "__fish_seen_subcommand_from opt" -s o -l output -r -d "where to write"
complete -c vyre -n "__fish_seen_subcommand_from run" -s p -l print -x -a "(__vyre_names)" -d "print a buffer"
complete -c vyre -n "__fish_seen_subcommand_from run" -s o -l out -x -a "(__vyre_names)=" -d "write a buffer to a .npy file"
complete -c vyre -n "__fish_seen_subcommand_from run" -s g -l grid -x -d "set grid_x, grid_y, grid_z"
complete -c vyre -n "__fish_seen_subcommand_from run" -s w -l workgroup -x -d "launch shape"
complete -c vyre -n "__fish_seen_subcommand_from run" -s b -l backend -x -a "(__vyre_backends)" -d "where to run"
complete -c vyre -n "__fish_seen_subcommand_from run" -l repeat -x -d "run several times"
complete -c vyre -n "__fish_seen_subcommand_from run" -s e -l explain -d "through the runtime, and say why"
complete -c vyre -n "__fish_seen_subcommand_from run" -l timeout -x -d "give up after seconds"
complete -c vyre -n "__fish_seen_subcommand_from run" -l fuel -x -d "give up after operations"
complete -c vyre -n "__fish_seen_subcommand_from run" -l threads -x -d "of this CPU, at most"
complete -c vyre -n "__fish_seen_subcommand_from run" -a "(__vyre_names)=" -d "parameter or buffer"
complete -c vyre -n "__fish_seen_subcommand_from compile" -s e -l emit -x -a "(__vyre_forms)" -d "the form"
complete -c vyre -n "__fish_seen_subcommand_from compile" -s o -l output -r -d "where to write"
complete -c vyre -n "__fish_seen_subcommand_from compile" -s w -l width -x -d "lanes"
complete -c vyre -n "__fish_seen_subcommand_from compile" -s q -l quick -d "compile quickly"
complete -c vyre -n "__fish_seen_subcommand_from compile" -l polled -d "with the stop flag"
complete -c vyre -n "__fish_seen_subcommand_from compile" -l no-opt -d "without passes"
complete -c vyre -n "__fish_seen_subcommand_from compile" -s l -l list -d "the forms"
complete -c vyre -n "__fish_seen_subcommand_from compile" -l remarks -d "what was done with each region"
complete -c vyre -n "__fish_seen_subcommand_from compile" -s g -l lines -d "with lines of the source"
complete -c vyre -n "__fish_seen_subcommand_from conform" -s b -l backend -x -a "(__vyre_backends)" -d "only this one"
complete -c vyre -n "__fish_seen_subcommand_from conform" -s d -l device -x -d "only the device of this name"
complete -c vyre -n "__fish_seen_subcommand_from conform" -s s -l seed -x -d "of the first random program"
complete -c vyre -n "__fish_seen_subcommand_from conform" -s n -l count -x -d "random programs"
complete -c vyre -n "__fish_seen_subcommand_from conform" -l seconds -x -d "for this long"
complete -c vyre -n "__fish_seen_subcommand_from conform" -l suite -x -a "rows math programs random" -d "only this one"
complete -c vyre -n "__fish_seen_subcommand_from conform" -l shrink -x -d "seconds for a failure"
complete -c vyre -n "__fish_seen_subcommand_from conform" -s r -l replay -r -d "run a failure again"
complete -c vyre -n "__fish_seen_subcommand_from conform" -s o -l out -r -d "where failures go"
complete -c vyre -n "__fish_seen_subcommand_from certify tune" -s b -l backend -x -a "(__vyre_backends)" -d "only this one"
complete -c vyre -n "__fish_seen_subcommand_from certify" -s d -l default -x -a "(__vyre_backends)" -d "what stays"
complete -c vyre -n "__fish_seen_subcommand_from tune" -s a -l again -d "measure everything again"
complete -c vyre -n "__fish_seen_subcommand_from tune" -l tunable -x -d "a name and its values"
complete -c vyre -n "__fish_seen_subcommand_from tune" -l where -x -d "a constraint"
complete -c vyre -n "__fish_seen_subcommand_from tune" -l space -r -d "tunables in the T1 format"
complete -c vyre -n "__fish_seen_subcommand_from tune" -s w -l workgroup -x -d "extents"
complete -c vyre -n "__fish_seen_subcommand_from tune" -l strategy -x -a "model random exhaustive annealing" -d "how to search"
complete -c vyre -n "__fish_seen_subcommand_from tune" -l evaluations -x -d "at most"
complete -c vyre -n "__fish_seen_subcommand_from tune" -l seconds -x -d "at most"
complete -c vyre -n "__fish_seen_subcommand_from tune" -l seed -x -d "of the search"
complete -c vyre -n "__fish_seen_subcommand_from tune" -l results -r -d "where they are kept"
complete -c vyre -n "__fish_seen_subcommand_from tune" -l report -r -d "the course of the search"
complete -c vyre -n "__fish_seen_subcommand_from tune" -l replay -r -d "a measured space"
complete -c vyre -n "__fish_seen_subcommand_from tune" -l prior -r -d "the space on another device"
complete -c vyre -n "__fish_seen_subcommand_from tune" -l seeds -x -d "repeats"
complete -c vyre -n "__fish_seen_subcommand_from certify tune" -s r -l rounds -x -d "samples of each"
complete -c vyre -n "__fish_seen_subcommand_from certify tune" -s g -l grid -x -d "set grid_x, grid_y, grid_z"
complete -c vyre -n "__fish_seen_subcommand_from certify tune" -l dry-run -d "write nothing"
complete -c vyre -n "__fish_seen_subcommand_from certify tune" -a "(__vyre_names)=" -d "parameter or buffer"
complete -c vyre -n "__fish_seen_subcommand_from profile" -a "show export import merge clear sync server"
complete -c vyre -n "__fish_seen_subcommand_from profile" -x -s m -l machine -d "a role that may write its own rows"
complete -c vyre -n "__fish_seen_subcommand_from profile" -x -s r -l reader -d "a role that may only read"
complete -c vyre -n "__fish_seen_subcommand_from profile" -s y -l yes -d "clear without asking"
complete -c vyre -n "__fish_seen_subcommand_from report" -s o -l output -r -d "where the page goes"
complete -c vyre -n "__fish_seen_subcommand_from report" -l no-measure -d "do not measure memory"
complete -c vyre -n "__fish_seen_subcommand_from bench" -s g -l grid -x -d "the grid"
complete -c vyre -n "__fish_seen_subcommand_from bench" -s b -l backend -x -a "(__vyre_backends)" -d "only this one"
complete -c vyre -n "__fish_seen_subcommand_from bench" -s r -l rounds -x -d "samples of each"
complete -c vyre -n "__fish_seen_subcommand_from bench" -l save -r -d "keep the figures"
complete -c vyre -n "__fish_seen_subcommand_from bench" -l compare -r -d "beside those of an earlier run"
complete -c vyre -n "__fish_seen_subcommand_from cache" -f -a "show clear"
complete -c vyre -n "__fish_seen_subcommand_from lsp" -f -s s -l stdio -d "over standard input and output"
complete -c vyre -n "__fish_seen_subcommand_from devices" -f -a "(__vyre_backends)"
complete -c vyre -n "__fish_seen_subcommand_from help" -f -a "check fmt info convert opt compile run devices conform certify tune explain profile report bench cache lsp"
