import type { Socket } from "node:net"

// Loaded before a service's main module. Standard input is a pipe from the sandbox, which closes when the sandbox ends for any reason.
const parent = process.stdin as unknown as Socket
parent.on("end", () => process.kill(process.pid, "SIGTERM"))
parent.on("error", () => process.kill(process.pid, "SIGTERM"))
parent.resume()
parent.unref()
