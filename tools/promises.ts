/** Runs every script of this folder whose name is a sentence. Prints one line for each, and the output of each failed script. */
import { spawnSync } from "node:child_process"
import { globSync } from "node:fs"
import { join } from "node:path"

const scripts = globSync("*-*.ts", { cwd: import.meta.dirname }).sort()
if (scripts.length === 0) throw new Error("no promise found")
for (const script of scripts) {
  const promise = script.slice(0, -3).replaceAll("-", " ")
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, script)], {
    encoding: "utf8",
  })
  console.log(`${status === 0 ? "ok    " : "FAILED"} ${promise} (${stdout.trim().split("\n").at(-1)})`)
  if (status !== 0) {
    console.log(stderr)
    process.exitCode = 1
  }
}
