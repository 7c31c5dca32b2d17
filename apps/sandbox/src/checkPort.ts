import { createServer } from "node:net"
import { Effect } from "effect"
import { SandboxError } from "./SandboxError.ts"

/** Fails if a port of 127.0.0.1 is in use. */
export const checkPort = (port: number) =>
  Effect.callback<void, SandboxError>((resume) => {
    const probe = createServer()
    probe.once("error", () =>
      resume(
        Effect.fail(new SandboxError({ message: `Port ${port} is in use; free it, or choose another with --port.` })),
      ),
    )
    probe.listen(port, "127.0.0.1", () => probe.close(() => resume(Effect.void)))
  })
