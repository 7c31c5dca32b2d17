import { execFile } from "node:child_process"
import { randomInt } from "node:crypto"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { type AtEnd, startProgram, type TestProcess } from "@outreach/testing/startProcess"
import { until } from "@outreach/testing/until"

const run = promisify(execFile)

/** Starts the programs of a host, and reaps their orphans. Its arguments are the hosts file, the host's address, and the commands. */
const HOST = `
mount --bind "$1" /etc/hosts
mount -t tmpfs tmpfs /dev/shm
ip link set lo up
echo "host is up"
until ip link show eth0 > /dev/null 2>&1; do sleep 0.1; done
ip address add "$2/24" dev eth0
ip link set eth0 up
shift 2
for command; do setpriv --reuid 65534 --regid 65534 --clear-groups sh -c "$command" & done
while :; do sleep 1; done`

export interface HostOptions {
  /** Shell commands that run as nobody. */
  readonly commands: ReadonlyArray<string>
  readonly env: NodeJS.ProcessEnv
}

export type Host = Awaited<ReturnType<Awaited<ReturnType<typeof startNetwork>>["startHost"]>>

/**
 * Connects hosts to a bridge of this machine, each with separate namespaces of the network, of processes and of mounts. They know each other by their
 * names. Requires root.
 */
export const startNetwork = async (names: ReadonlyArray<string>, folder: string, atEnd: AtEnd) => {
  const bridge = `ha${process.pid}`
  const subnet = `10.${randomInt(1, 255)}.${randomInt(256)}`
  const ip = (...args: ReadonlyArray<string>) => run("ip", args)
  const addressOf = (name: string) => `${subnet}.${names.indexOf(name) + 11}`
  const hosts = join(folder, "hosts")
  await writeFile(hosts, ["127.0.0.1 localhost", ...names.map((name) => `${addressOf(name)} ${name}`), ""].join("\n"))
  await ip("link", "add", bridge, "type", "bridge")
  atEnd(async () => void (await ip("link", "delete", bridge)))
  await ip("address", "add", `${subnet}.1/24`, "dev", bridge)
  await ip("link", "set", bridge, "up")

  const startHost = async (name: string, { commands, env }: HostOptions) => {
    const cable = `${bridge}${name}`
    let machine: TestProcess
    let isRunning = true
    const start = async () => {
      const namespaces = ["--net", "--ipc", "--pid", "--mount", "--mount-proc", "--fork", "--kill-child"]
      const args = [...namespaces, "sh", "-ec", HOST, "host", hosts, addressOf(name), ...commands]
      machine = startProgram("unshare", args, { env, cwd: folder }, atEnd)
      await until(machine, ({ text }) => text.includes("host is up"))
      const peer = ["peer", "name", "eth0", "netns", String(machine.child.pid)]
      await ip("link", "add", cable, "type", "veth", ...peer)
      await ip("link", "set", cable, "master", bridge, "up")
      isRunning = true
    }
    /** Runs a shell command in the host's namespace of processes. */
    const inside = (command: string) =>
      run("nsenter", [`--pid=/proc/${machine.child.pid}/ns/pid_for_children`, "sh", "-c", command])
    await start()
    return {
      name,
      address: addressOf(name),
      inside,
      /** Stops all programs, without closing a connection. */
      freeze: () => inside("kill -STOP -1"),
      thaw: () => inside("kill -CONT -1"),
      /** Loses every packet from and to the host. */
      cut: () => ip("link", "set", cable, "down"),
      heal: () => ip("link", "set", cable, "up"),
      isRunning: () => isRunning,
      /** Kills all programs at once. */
      kill: async () => {
        isRunning = false
        await machine.kill()
        await ip("link", "delete", cable).catch(() => {})
      },
      /** Starts the programs again, after `kill`. */
      start,
    }
  }
  return { addressOf, startHost }
}
