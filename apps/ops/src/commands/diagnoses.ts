import { textSchema } from "@outreach/domain/textSchema"
import { Effect } from "effect"
import { reading } from "../Declaration.ts"
import type { ReaderName } from "../doctor/processSettings.ts"
import { dnsServer } from "../inputs/filters.ts"
import { flag, named, onlySwitch, several, text, wholeNumber, withDefault } from "../inputs/Input.ts"
import { Output, print } from "../output/Output.ts"

const EnvFile = textSchema("a file, or api=, worker=, console=, ops= or migrate= and a file", (given) => {
  const [, reader, path = ""] = /^(?:(api|worker|console|ops|migrate)=)?(.+)$/.exec(given) ?? []
  return path === "" ? undefined : { path, reader: (reader ?? null) as ReaderName | null }
})

export const doctor = reading({
  about:
    "Check the settings, the database, the keys, the mail server, its DNS records, the senders and the endpoints; change nothing, and fail if a check fails",
  examples: [
    "ops doctor",
    "ops doctor --dns-server 192.0.2.53",
    "ops doctor --all-processes",
    "ops doctor --env-file api=api.env --env-file worker=worker.env",
  ],
  input: {
    dnsServer,
    allProcesses: onlySwitch(
      "Check the settings, the secrets and the roles of all processes together, from the files of --env-folder, instead of this environment",
    ),
    envFolder: withDefault(
      text("The folder of --all-processes, as the units of systemd read it (default /etc/outreach)", "folder"),
      "/etc/outreach",
    ),
    envFiles: named(
      "env-file",
      several(
        flag(EnvFile, "Check the same from such files instead; without a process, a file is of all", "[process=]file"),
      ),
    ),
  },
  *run({ dnsServer, allProcesses, envFolder, envFiles }) {
    const { runDoctor } = yield* Effect.promise(() => import("../doctor/runDoctor.ts"))
    const { readFiles, readFolder } = yield* Effect.promise(() => import("../doctor/processEnvironments.ts"))
    const processes = envFiles.length > 0 ? readFiles(envFiles) : allProcesses ? readFolder(envFolder) : undefined
    yield* runDoctor({ dnsServer, processes })
  },
})

export const status = reading({
  about: "Show how the database, the workers, the endpoints, the queues and the campaigns stand, on one screen",
  examples: ["ops status", "ops status --watch --interval 5"],
  input: {
    watch: onlySwitch(
      "Show it again and again until Ctrl-C: in place on a terminal, with --output json as a line for each reading; once without either",
    ),
    interval: withDefault(wholeNumber(1, 3600, "Seconds between two readings of --watch, 1 to 3600 (default 2)"), 2),
  },
  *run({ watch, interval }) {
    if (watch && ((yield* Output) === "json" || process.stdout.isTTY)) {
      const { watchStatus } = yield* Effect.promise(() => import("../status/watchStatus.ts"))
      return yield* watchStatus({ seconds: interval, terminal: process.stdout })
    }
    const { readStatus, statusServices } = yield* Effect.promise(() => import("../status/readStatus.ts"))
    const { formatStatus } = yield* Effect.promise(() => import("../status/formatStatus.ts"))
    const status = yield* Effect.provide(readStatus, statusServices)
    yield* print(status, () => formatStatus(status).join("\n"))
  },
})
