import { COMMAND_NAME as NAME } from "../commandName.ts"

/** The shells' completion scripts. Each asks the hidden command `complete` of the command line, with the words up to the cursor after `--`. */
export const SCRIPTS = {
  bash: `# ${NAME} --completions bash > /etc/bash_completion.d/${NAME}
_${NAME}() {
  local IFS=$'\\n'
  COMPREPLY=($(${NAME} complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _${NAME} ${NAME}`,
  zsh: `#compdef ${NAME}
# ${NAME} --completions zsh > a folder of $fpath, as _${NAME}
_${NAME}() {
  local -a found
  found=(\${(f)"$(${NAME} complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null | sed 's/:/\\\\:/g; s/\\t/:/')"})
  if (( \${#found} )); then _describe -V ${NAME} found -U; else _files; fi
}
# As a file of $fpath it is the function's body when it is first called.
if [[ $funcstack[1] == _${NAME} ]]; then _${NAME} "$@"; else compdef _${NAME} ${NAME}; fi`,
  fish: `# ${NAME} --completions fish > ~/.config/fish/completions/${NAME}.fish
function __${NAME}_complete
  set -l words (commandline -opc)
  set -l found (${NAME} complete -- $words[2..-1] (commandline -ct) 2>/dev/null)
  if set -q found[1]
    string join \\n $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c ${NAME} -f -a '(__${NAME}_complete)'`,
} as const
