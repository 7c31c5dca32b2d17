// Runs a TypeScript file of this repository. Plain JavaScript, so that a Node that is too old gets a sentence and not a stack.
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"

const { engines } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8"))
const required = engines.node.replace(">=", "")
const [major, minor] = process.versions.node.split(".").map(Number)
const [minMajor, minMinor] = required.split(".").map(Number)
const [, , file, ...args] = process.argv

if (major < minMajor || (major === minMajor && minor < minMinor)) {
  process.stderr.write(
    `This needs Node ${required} or later, and runs on ${process.versions.node} (${process.execPath}). Without another at hand: npx -y -p node@24 -p pnpm@12 pnpm start\n`,
  )
  process.exitCode = 1
} else if (process.features.typescript === false) {
  process.stderr.write(
    "This runs TypeScript, which --no-strip-types forbids here: remove it, from NODE_OPTIONS for one.\n",
  )
  process.exitCode = 1
} else if (file === undefined) {
  process.stderr.write("Say what to run: node run.js apps/sandbox/src/main.ts\n")
  process.exitCode = 1
} else {
  const main = resolve(import.meta.dirname, file)
  process.argv = [process.execPath, main, ...args]
  await import(pathToFileURL(main).href)
}
