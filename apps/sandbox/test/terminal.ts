import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { loopbackAddress } from "@outreach/testing/loopbackAddress"
import { Changes, until } from "@outreach/testing/until"
import { Terminal } from "@xterm/headless"
import { onTestFinished } from "vitest"

/** Runs the sandbox on a pseudoterminal of Debian's `script`, behind a terminal that draws what it writes. */
export const runOnTerminal = (
  folder: string,
  options: {
    readonly environment?: Readonly<Record<string, string>>
    /** Called with each screen. */
    readonly onScreen?: (screen: readonly string[]) => void
  },
) => {
  const { environment = {}, onScreen = () => {} } = options
  const screen = new Terminal({ cols: 80, rows: 24, allowProposedApi: true })
  const name = join(folder, "terminal")
  const main = join(import.meta.dirname, "../src/main.ts")
  const command = `stty rows 24 cols 80; tty > ${name}; exec ${process.execPath} ${main} --folder ${folder} --host ${loopbackAddress()}`
  const { DATABASE_URL: _, CI: __, ...env } = process.env
  const child = spawn("script", ["--quiet", "--flush", "--return", "--command", command, "/dev/null"], {
    env: { ...env, TERM: "xterm-256color", ...environment },
    stdio: ["pipe", "pipe", "inherit"],
  })
  // It may end while something is typed.
  child.stdin.on("error", () => {})
  const ended = once(child, "close").then(async ([code]) => {
    // The terminal draws what was written some time later.
    await new Promise<void>((drawn) => screen.write("", drawn))
    return code as number | null
  })
  onTestFinished(async () => {
    child.stdin.end("\u0003")
    await ended
  })
  const lines = () =>
    Array.from({ length: screen.buffer.active.length }, (_, row) =>
      screen.buffer.active.getLine(row)!.translateToString(true),
    )
  const changes = new Changes()
  let output = ""
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk
    screen.write(chunk, () => {
      onScreen(lines())
      changes.announce()
    })
  })
  return {
    ended,
    /** All that was written, with its escape codes. */
    output: () => output,
    /** The lines, also those that have left the screen upwards. */
    lines,
    type: (text: string) => void child.stdin.write(text),
    resize: async (columns: number, rows: number) => {
      screen.resize(columns, rows)
      execFileSync("stty", ["-F", (await readFile(name, "utf8")).trim(), "rows", String(rows), "cols", String(columns)])
    },
    /** Waits until the screen matches, and returns its text. */
    shows: (matches: RegExp | ((lines: readonly string[]) => boolean)): Promise<string> =>
      until({ changes }, () => {
        const text = lines().join("\n")
        return (typeof matches === "function" ? matches(lines()) : matches.test(text)) && text
      }),
  }
}
