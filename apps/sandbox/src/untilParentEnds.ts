import type { Socket } from "node:net"

// Loaded before a service's own main: its standard input is a pipe from the sandbox, which ends however the sandbox ends.
const parent = process.stdin as unknown as Socket
parent.on("end", () => process.kill(process.pid, "SIGTERM"))
parent.on("error", () => process.kill(process.pid, "SIGTERM"))
parent.resume()
parent.unref()
