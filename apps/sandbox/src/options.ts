import { existsSync } from "node:fs"
import { isIPv4 } from "node:net"
import { resolve } from "node:path"
import { parseArgs } from "node:util"
import { RELEASE } from "@outreach/process/release"
import { Effect } from "effect"
import { COMMANDS } from "./commands.ts"
import { SandboxError } from "./SandboxError.ts"

const USAGE = `Runs the whole service on this machine, with a sample partner and a mail catcher.

  ${COMMANDS.sandbox} [--port 8080] [--console-port 8090] [--host 127.0.0.1] [--fresh] [--recipients FILE.csv] [--folder .sandbox]

  --port N           port of the API; default 8080
  --console-port N   port of the operator console; default 8090, or any that is free if that is taken
  --host ADDRESS     loopback address of all of them; default 127.0.0.1. A second sandbox can use 127.0.0.2 and the same ports
  --fresh            drops all data of an earlier run and starts from scratch
  --recipients FILE  launches a campaign with the recipients of this CSV file (columns npi,email)
  --folder PATH      folder of the database, the keys and the logs; default .sandbox in the current folder
  --help, --version  prints this, or the version

With DATABASE_URL it uses that PostgreSQL instead of its own. Ctrl-C stops everything.
${COMMANDS.ops} --help lists the commands that operate a running sandbox.
`

const DECLARED = {
  port: { type: "string", default: "8080" },
  "console-port": { type: "string" },
  host: { type: "string", default: "127.0.0.1" },
  fresh: { type: "boolean", default: false },
  recipients: { type: "string" },
  folder: { type: "string", default: ".sandbox" },
  help: { type: "boolean", short: "h", default: false },
  version: { type: "boolean", default: false },
} as const

/** Parses the command line. Returns the text to print for `--help` and `--version`. */
export const readOptions = Effect.fnUntraced(function* (args: readonly string[]) {
  const values = yield* Effect.try({
    try: () => parseArgs({ args: [...args], options: DECLARED }).values,
    catch: (error) => new SandboxError({ message: `${(error as Error).message}\n\n${USAGE}` }),
  })
  const { port, "console-port": consolePort, host, fresh, recipients, folder, help, version } = values
  if (help || version) return help ? USAGE : RELEASE
  for (const [name, value] of Object.entries({ "--port": port, "--console-port": consolePort })) {
    if (value !== undefined && !isPort(value)) {
      return yield* new SandboxError({ message: `${name} must be a port from 1 to 65535.` })
    }
  }
  if (!/^127\.\d+\.\d+\.\d+$/.test(host) || !isIPv4(host)) {
    return yield* new SandboxError({
      message:
        "--host must be a loopback address such as 127.0.0.2: the sandbox has no protection against other machines.",
    })
  }
  if (recipients !== undefined && !existsSync(recipients)) {
    return yield* new SandboxError({ message: `--recipients: ${recipients} does not exist.` })
  }
  return {
    ...{ host, port: Number(port), fresh, folder: resolve(folder) },
    /** Ports for the console, the first free one of which it uses. */
    consolePorts: consolePort === undefined ? [8090, 0] : [Number(consolePort)],
    /** A CSV file of recipients for the campaign, instead of the sample file. */
    recipients: recipients === undefined ? undefined : resolve(recipients),
  }
})

/** The options of the command line. */
export type Options = Exclude<Effect.Success<ReturnType<typeof readOptions>>, string>

const isPort = (text: string): boolean => /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535
