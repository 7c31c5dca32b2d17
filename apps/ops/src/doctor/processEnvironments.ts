import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { parseEnv } from "node:util"
import { type Finding, failed, warning } from "@outreach/domain/operators/Finding"
import { misspeltSettings, variablesOf } from "@outreach/process/misspeltSettings"
import { readSmallFile } from "@outreach/process/readSmallFile"
import { Effect, Result } from "effect"
import { declaredSettings, type ReaderName, SETTINGS_READERS, settingsRead } from "./processSettings.ts"

/** A file of settings, for one process or for all. */
export interface EnvFile {
  readonly path: string
  readonly reader: ReaderName | null
}

export interface ProcessEnvironments {
  readonly environments: ReadonlyMap<ReaderName, Readonly<Record<string, string>>>
  /** What is wrong with the files themselves. */
  readonly findings: ReadonlyArray<Finding>
}

const READERS = Object.keys(SETTINGS_READERS) as ReadonlyArray<ReaderName>

/**
 * Reads the files that the units of deploy/systemd and deploy/outreach-ops name: `outreach.env`, one of each process, and for the units the secrets in
 * `credentials`.
 */
export const readFolder = (folder: string): ProcessEnvironments => {
  const credentials = join(folder, "credentials")
  const { files: secrets, findings } = listFolder(credentials)
  const own = READERS.map((reader) => ({ reader, path: join(folder, `${reader}.env`) })).filter((file) =>
    existsSync(file.path),
  )
  const present = READERS.filter(
    (name) =>
      name === "api" ||
      name === "worker" ||
      own.some(({ reader }) => reader === name) ||
      secrets.some((file) => file.startsWith(`${name}.`)),
  )
  const read = readFiles([{ path: join(folder, "outreach.env"), reader: null }, ...own], present)
  const environments = new Map(
    [...read.environments].map(([name, environment]) => {
      const files = secretsOf(name)
        .map((setting) => [setting, credentialOf(name, setting)] as const)
        .filter(([, file]) => name !== "ops" && secrets.includes(file))
        .map(([setting, file]) => [`${setting}_FILE`, join(credentials, file)])
      return [name, { ...Object.fromEntries(files), ...environment }] as const
    }),
  )
  return { environments, findings: [...findings, ...read.findings] }
}

/** Returns the secrets that a process may read. */
export const secretsOf = (name: ReaderName): ReadonlyArray<string> => {
  const declared = declaredSettings()
  const read = [...Effect.runSync(settingsRead(SETTINGS_READERS[name]))]
  return read.filter((setting) => declared.get(setting)?.isSecret === true)
}

/** Returns the name of the file that holds a secret of a process: addresses of the database differ by role, and the other secrets are of all. */
export const credentialOf = (name: ReaderName, setting: string): string =>
  `${setting.startsWith("DATABASE_") ? `${name}.` : ""}${setting.toLowerCase()}`

const listFolder = (
  path: string,
): { readonly files: ReadonlyArray<string>; readonly findings: ReadonlyArray<Finding> } => {
  try {
    return { files: existsSync(path) ? readdirSync(path) : [], findings: [] }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return { files: [], findings: [failed(`The folder ${path} cannot be read (${code}).`, "Run the check as root.")] }
  }
}

/** Reads files of settings, of which a later one wins, into an environment for each process. */
export const readFiles = (
  files: ReadonlyArray<EnvFile>,
  readers: ReadonlyArray<ReaderName> = readersOf(files),
): ProcessEnvironments => {
  const read = files.map((file) => ({ ...file, ...readEnvFile(file.path) }))
  const names = [...new Set(read.flatMap(({ environment }) => Object.keys(environment)))]
  return {
    environments: new Map(
      readers.map((name) => [
        name,
        Object.assign({}, ...read.filter(({ reader }) => (reader ?? name) === name).map((each) => each.environment)),
      ]),
    ),
    findings: [
      ...read.flatMap(({ findings }) => findings),
      ...read.flatMap(strayFindings),
      ...misspeltSettings(names, variablesOf(declaredSettings())).map(({ name, similar }) =>
        warning(`${name} is not a setting, and looks like ${similar}.`, "Correct its name, or remove it."),
      ),
    ],
  }
}

const readersOf = (files: ReadonlyArray<EnvFile>): ReadonlyArray<ReaderName> => {
  const named = READERS.filter((name) => files.some(({ reader }) => reader === name))
  return named.length > 0 ? named : ["api", "worker", "console"]
}

/** A line that systemd and Node read in the same way: a comment, or a value without escapes, bare or in quotes that end on it. */
const PLAIN_LINE = /^\s*(?:[#;].*|[A-Za-z_]\w*\s*=[ \t]*(?:'[^']*'|"[^"\\]*"|[^\s'"`#\\][^#\\]*)?\s*)?$/

const readEnvFile = (path: string) => {
  const content = readSmallFile(path)
  if (Result.isFailure(content)) {
    return {
      environment: {},
      findings: [failed(`The file ${path} ${content.failure}.`, "Correct it, or name another.")],
    }
  }
  const lines = content.success.split(/\r?\n/)
  const odd = lines.flatMap((line, i) => (PLAIN_LINE.test(line) ? [] : [i + 1]))
  const names = lines.flatMap((line) => /^\s*([A-Za-z_]\w*)\s*=/.exec(line)?.[1] ?? [])
  const repeated = new Set(names.filter((name, i) => names.indexOf(name) < i))
  return {
    environment: Object.fromEntries(
      Object.entries(parseEnv(content.success)).filter(([name]) => /^[A-Za-z_]\w*$/.test(name)),
    ),
    findings: [
      ...odd.map((line) =>
        failed(
          `Line ${line} of ${path} is read differently by systemd, shells and Node, or names no setting.`,
          "Write NAME='value' on one line, or a # before it.",
        ),
      ),
      ...[...repeated].map((name) =>
        warning(`${name} stands more than once in ${path}; the last one counts.`, "Remove the others."),
      ),
    ],
  }
}

/** Names the settings in the file of one process that only others read. */
const strayFindings = ({ path, reader, environment }: EnvFile & { readonly environment: object }) => {
  if (reader === null) return []
  const own = Effect.runSync(settingsRead(SETTINGS_READERS[reader]))
  const declared = declaredSettings()
  return Object.keys(environment)
    .filter((name) => declared.has(name.replace(/_FILE$/, "")) && !own.has(name))
    .map((name) =>
      warning(
        `${name} stands in ${path}, and the ${SETTINGS_READERS[reader].title} does not read it.`,
        "Move it to the file of a process that reads it; see docs/settings.md.",
      ),
    )
}
