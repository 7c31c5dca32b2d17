/** The shells' completion scripts. Each asks the hidden command `ops complete`, with the words up to the cursor after `--`. */
export const SCRIPTS = {
  bash: `# ops --completions bash > /etc/bash_completion.d/ops
_ops() {
  local IFS=$'\\n'
  COMPREPLY=($(ops complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _ops ops`,
  zsh: `#compdef ops
# ops --completions zsh > a folder of $fpath, as _ops
_ops() {
  local -a found
  found=(\${(f)"$(ops complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null | sed 's/:/\\\\:/g; s/\\t/:/')"})
  if (( \${#found} )); then _describe -V ops found -U; else _files; fi
}
# As a file of $fpath it is the function's body when it is first called.
if [[ $funcstack[1] == _ops ]]; then _ops "$@"; else compdef _ops ops; fi`,
  fish: `# ops --completions fish > ~/.config/fish/completions/ops.fish
function __ops_complete
  set -l words (commandline -opc)
  set -l found (ops complete -- $words[2..-1] (commandline -ct) 2>/dev/null)
  if set -q found[1]
    string join \\n $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c ops -f -a '(__ops_complete)'`,
} as const
