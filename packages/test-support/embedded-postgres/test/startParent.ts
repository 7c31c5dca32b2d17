import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { onTestFinished } from "vitest"

interface ParentOptions {
  readonly dataDirectory?: string
  /** The folder of the package's sources, if not this one. */
  readonly sources?: string
  readonly user?: { readonly uid: number; readonly gid: number; readonly node: string; readonly script: string }
}

/** Starts `parent.ts`, a program with a server, and waits for the server's URL or its error. */
export async function startParent({ dataDirectory = "", sources, user }: ParentOptions = {}): Promise<{
  readonly process: ChildProcessWithoutNullStreams
  readonly url: string
  readonly error: string | undefined
  readonly end: (signal: NodeJS.Signals) => Promise<void>
}> {
  const module = sources
    ? `${sources}/startPostgres.ts`
    : fileURLToPath(new URL("../src/startPostgres.ts", import.meta.url))
  const script = user?.script ?? fileURLToPath(new URL("./parent.ts", import.meta.url))
  const child = spawn(user?.node ?? process.execPath, [script, module, dataDirectory], {
    ...(user && { uid: user.uid, gid: user.gid, cwd: "/" }),
  })
  const exit = once(child, "exit")
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    await exit
  }
  onTestFinished(() => end("SIGKILL"))
  let stderr = ""
  child.stderr.on("data", (chunk) => {
    stderr += chunk
  })
  for await (const line of createInterface({ input: child.stdout })) {
    const { url = "", error } = JSON.parse(line) as { url?: string; error?: string }
    return { process: child, url, error, end }
  }
  throw new Error(`The parent printed nothing.\n${stderr}`)
}
