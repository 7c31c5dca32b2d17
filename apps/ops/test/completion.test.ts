import { execFileSync } from "node:child_process"
import { expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run } = commandLine()

it.each([
  ["nouns", ["dead"], ["dead-letters"]],
  ["verbs", ["keys", "r"], ["revoke", "rotate"]],
  ["flags", ["keys", "create", "--org"], ["--organization"]],
  ["fixed values", ["campaigns", "list", "--kind", ""], ["survey", "traffic"]],
  ["forms of the output", ["campaigns", "list", "--output", "j"], ["json"]],
])("the completion script of bash completes %s", async (_, words, expected) => {
  const { stdout } = await run(["--completions", "bash"])
  const driver = `${stdout}
COMP_WORDS=(ops "$@"); COMP_CWORD=$#; COMP_LINE="\${COMP_WORDS[*]}"
_ops ops "\${COMP_WORDS[COMP_CWORD]}"; printf '%s\\n' "\${COMPREPLY[@]}"`
  const env = { PATH: process.env["PATH"] }
  const printed = execFileSync("bash", ["-s", "--", ...words], { input: driver, env, encoding: "utf8" })
  expect(printed.trim().split("\n").toSorted()).toEqual(expected)
})
