import { execFileSync, spawn } from "node:child_process"
import { constants, openSync, readFileSync, truncateSync, writeFileSync, writeSync } from "node:fs"
import { mkdir } from "node:fs/promises"
import { connect, type Socket } from "node:net"
import { join } from "node:path"
import type { Fault } from "./Fault.ts"
import { canMount, mountTmpfs, type Stage } from "./startStage.ts"
import { ADMIN_PORTS, API_PORT, type Unit } from "./startUnits.ts"

/** More than the API's 8,192, from addresses with fewer than `CONNECTIONS_PER_ADDRESS` each. */
const CONNECTIONS = 10_000
const PER_ADDRESS = 2000

/** Occupies a port with another program until the end of the run. */
const takePort = async ({ host, atEnd }: Stage, port: number): Promise<void> => {
  const script = `require("net").createServer().listen(${port}, "${host}", () => console.log("listening"))`
  const other = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "ignore"] })
  atEnd(async () => void other.kill("SIGKILL"))
  await new Promise((resolve) => other.stdout.once("data", resolve))
}

/** Command that stops the program listening on a port of the API's machine. */
const endListener = (port: number): string =>
  `kill $(ss -Hltnp "sport = :${port}" | grep -o "pid=[0-9]*" | cut -d= -f2)`

/**
 * Opens connections from several local addresses, each of which sends `first`, and then `more` each second. Connections closed by the API
 * are reopened until the returned function is called.
 */
const occupy = async (
  stage: Stage,
  options: { readonly connections: number; readonly first: string; readonly more?: string },
) => {
  const { connections, first, more } = options
  const sockets = new Set<Socket>()
  let isOver = false
  const open = (n: number): void => {
    if (isOver) return
    const localAddress = `127.0.1.${1 + Math.floor(n / PER_ADDRESS)}`
    const socket = connect({ host: stage.host, port: API_PORT, localAddress })
    sockets.add(socket)
    socket.on("connect", () => socket.write(first))
    socket.on("error", () => {})
    socket.resume()
    socket.on("close", () => {
      sockets.delete(socket)
      setTimeout(open, 1000, n).unref()
    })
  }
  for (let n = 0; n < connections; n++) {
    open(n)
    // The length of a listening socket's queue.
    if (n % 100 === 99) await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const trickle = setInterval(() => {
    if (more !== undefined) for (const socket of sockets) socket.write(more)
  }, 1000)
  const end = async () => {
    isOver = true
    clearInterval(trickle)
    for (const socket of sockets) socket.destroy()
  }
  stage.atEnd(end)
  return end
}

/** Makes a worker log to a file on a disk of 64 KB. */
const logToSmallDisk = async (stage: Stage, unit: Unit): Promise<string> => {
  const folder = join(stage.folder, "log")
  await mkdir(folder)
  mountTmpfs(folder, "size=64k", stage.atEnd)
  const path = join(folder, `${unit}.log`)
  stage.units[unit].logTo(openSync(path, "a"))
  await stage.units[unit].restart()
  return path
}

export const processFaults: ReadonlyArray<Fault> = [
  {
    name: "secrets-key-wrong",
    fault: "The worker has the wrong `SECRETS_KEY`",
    signals: [
      { alert: "OutreachNoWorker" },
      { log: "SECRETS_KEY does not decrypt the stored signing secrets", of: "worker" },
    ],
    remedy: ["sed -i '/^SECRETS_KEY=/d' /etc/outreach/worker.env", "systemctl restart outreach@worker"],
    break: async (stage) => {
      await stage.writeSettings("worker", { SECRETS_KEY: Buffer.alloc(32, 8).toString("base64") })
      await stage.units.worker.restart()
    },
  },
  {
    name: "port-taken",
    fault: "Another program uses the API's port",
    signals: [{ alert: "OutreachNoApi" }, { log: "Another process listens on port", of: "api" }],
    remedy: [`ss -ltnp "sport = :8080"`, endListener(8080)],
    break: async (stage) => {
      await stage.units.api.stop()
      await takePort(stage, API_PORT)
      await stage.units.api.start()
    },
  },
  {
    name: "admin-port-taken",
    fault: "Another program uses the worker's admin port",
    signals: [{ alert: "OutreachNoWorker" }, { log: "admin port failed", of: "worker" }],
    remedy: [`ss -ltnp "sport = :9464"`, endListener(9464)],
    break: async (stage) => {
      await stage.units.worker.stop()
      await takePort(stage, ADMIN_PORTS.worker)
      await stage.units.worker.start()
    },
  },
  {
    name: "out-of-memory",
    fault: "The kernel kills the worker repeatedly (out of memory)",
    signals: [{ alert: "OutreachNoWorker" }, { log: "code=killed, status=9/KILL", of: "worker" }],
    remedy: ["systemctl set-property outreach@worker MemoryMax=1G"],
    break: async (stage) => {
      await stage.shell("systemctl set-property outreach@worker MemoryMax=40M && systemctl restart outreach@worker")
    },
  },
  {
    name: "log-disk-full",
    fault: "The disk of the worker's log is full",
    lacks: () => (canMount ? undefined : "only root mounts a small disk"),
    signals: [{ alert: "OutreachLogsLost" }],
    remedy: ["df -h /var/log/outreach", "truncate -s 0 /var/log/outreach/worker.log"],
    break: async (stage) => {
      await stage.writeSettings("worker", { LOG_LEVEL: "debug" })
      const path = await logToSmallDisk(stage, "worker")
      await stage.healthy()
      try {
        writeFileSync(join(path, "../old.log"), Buffer.alloc(65_536))
      } catch {
        // Full.
      }
      return async () => truncateSync(join(path, "../old.log"))
    },
    after: async (stage) => {
      if (readFileSync(join(stage.folder, "log/worker.log")).length === 0) throw new Error("The worker logs no more")
      stage.units.worker.logTo(undefined)
      await stage.writeSettings("worker")
      await stage.units.worker.restart()
    },
  },
  {
    name: "log-reader-stopped",
    fault: "The program that reads the worker's log is blocked, and its pipe is full",
    signals: [{ metric: "outreach_log_lines_lost_total", of: "worker" }],
    remedy: ["systemctl restart systemd-journald"],
    break: async (stage) => {
      const pipe = join(stage.folder, "log.pipe")
      execFileSync("mkfifo", [pipe])
      const end = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK)
      stage.units.worker.logTo(openSync(pipe, constants.O_RDWR))
      await stage.writeSettings("worker", { LOG_LEVEL: "debug" })
      try {
        while (writeSync(end, "x".repeat(4096)) > 0);
      } catch {
        // Full.
      }
      await stage.units.worker.restart()
      stage.journald.restart = async () => {
        const reader = spawn("cat", [pipe], { stdio: ["ignore", "ignore", "ignore"] })
        stage.atEnd(async () => void reader.kill("SIGKILL"))
      }
    },
    after: async (stage) => {
      stage.units.worker.logTo(undefined)
      await stage.writeSettings("worker")
      await stage.units.worker.restart()
    },
  },
  {
    name: "idle-connections",
    fault: "10,000 connections to the API are open and idle",
    signals: [
      { alert: "OutreachConnectionsRefused" },
      { log: "connection limit reached, dropping connections", of: "api" },
    ],
    outside: "Block the addresses that this command shows in the firewall",
    remedy: [
      `ss -Htn state established "sport = :8080" | awk '{ print $4 }' | sed 's/:[0-9]*$//' | sort | uniq -c | sort -n | tail`,
    ],
    break: (stage) =>
      occupy(stage, { connections: CONNECTIONS, first: "GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n" }),
  },
  {
    name: "slow-headers",
    fault: "2,000 clients send request headers byte by byte",
    signals: [{ metric: 'outreach_http_refusals_total{reason="malformed"}', of: "api" }],
    outside: "Nothing: each gets a 400 after 10 s, and other clients aren't affected",
    remedy: [],
    break: async (stage) => {
      const end = await occupy(stage, { connections: PER_ADDRESS, first: "GET / HTTP/1.1\r\n", more: "x" })
      const accepted = stage.traffic.accepted.length
      return async () => {
        if (stage.traffic.accepted.length === accepted) throw new Error("No event was accepted beside slow clients")
        await end()
      }
    },
  },
]
