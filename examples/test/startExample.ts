import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"

/** An example that listens, as a process of its own. */
export interface RunningExample extends AsyncDisposable {
  readonly url: string
  /** Everything that it has printed so far. */
  readonly output: () => string
}

/** Starts an example on a free port, and waits until it listens. Rejects when it ends before. */
export async function startExample(
  file: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<RunningExample> {
  const example = spawn(process.execPath, [join(import.meta.dirname, "..", file)], {
    env: { PORT: "0", ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  })
  const ended = once(example, "close")
  let printed = ""
  const port = await new Promise<string>((listening, failed) => {
    for (const stream of [example.stdout, example.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        printed += text
        const [, found] = /listening on[^}]*port: (\d+)/.exec(printed) ?? []
        if (found !== undefined) listening(found)
      })
    }
    ended.then(() => failed(new Error(`${file} ended before it listened:\n${printed}`)), failed)
  })
  return {
    url: `http://localhost:${port}`,
    output: () => printed,
    [Symbol.asyncDispose]: async () => {
      example.kill()
      await ended
    },
  }
}
