import { BlockList, isIP } from "node:net"
import { Duration, Redacted } from "effect"
import { readTls, type Tls } from "./Tls.ts"

/** One server of an address, or a name that may resolve to several. */
export interface DatabaseHost {
  /** Name, IP address, or absolute path of a Unix socket's folder. */
  readonly host: string
  readonly port: number
}

const TARGET_SESSIONS = ["any", "read-write", "primary"] as const

/** Accepted servers: libpq's `target_session_attrs`. */
type TargetSession = (typeof TARGET_SESSIONS)[number]

/** A parsed libpq address. */
export interface DatabaseAddress {
  /** At least one host, in the order in which they are tried. */
  readonly hosts: ReadonlyArray<DatabaseHost>
  readonly targetSession: TargetSession
  readonly database: string | undefined
  readonly username: string | undefined
  readonly password: Redacted.Redacted | undefined
  readonly applicationName: string | undefined
  readonly options: string | undefined
  /** Per host. */
  readonly connectTimeout: Duration.Duration | undefined
  readonly tls: Tls
}

const PARAMETERS = [
  ...["host", "port", "dbname", "user", "password", "application_name", "options", "connect_timeout"],
  ...["target_session_attrs", "sslmode", "sslrootcert", "sslcert", "sslkey"],
]

const ADDRESS = /^postgres(?:ql)?:\/\/([^/?#]*)(\/[^?#]*)?(?:\?([^#]*))?(#.*)?$/is

/**
 * Parses a libpq address; returns undefined for other text. Reads certificate files.
 *
 * Throws `RangeError` with the reason if a parameter is unknown or invalid, or its file is unusable.
 */
export const parseDatabaseAddress = (text: string): DatabaseAddress | undefined => {
  const [, authority, path = "", query = "", fragment = ""] = ADDRESS.exec(text) ?? []
  if (authority === undefined) return undefined
  // A raw delimiter would end the authority too early, and the rest would be read as another host.
  if (/@/.test(path + fragment) || /^(?![a-z_]+=).*@/s.test(query)) {
    throw new RangeError("its user or password has a raw /, ? or #; write %2F, %3F or %23 (and %40 for @)")
  }
  const at = authority.lastIndexOf("@")
  const given = readAuthority(authority.slice(at + 1))
  if (given === undefined) return undefined
  const [, user, secret] = /^([^:]*):?(.*)$/s.exec(at === -1 ? "" : authority.slice(0, at))!
  const parameters = readParameters(query)
  const hosts = readHosts(parameters, given)
  const password = parameters.get("password") ?? decode(secret!)
  return {
    hosts,
    targetSession: readTarget(parameters.get("target_session_attrs")),
    database: parameters.get("dbname") ?? (decode(path.slice(1)) || undefined),
    username: parameters.get("user") ?? (decode(user!) || undefined),
    password: password === "" ? undefined : Redacted.make(password, { label: "the database's password" }),
    applicationName: parameters.get("application_name"),
    options: parameters.get("options"),
    connectTimeout: connectTimeout(parameters.get("connect_timeout")),
    // A Unix socket is never encrypted, regardless of `sslmode`.
    tls: hosts.every(isUnixSocket) ? { use: "never" } : readTls(parameters),
  }
}

/** Returns whether data may be sent unencrypted over a network. */
export const mayBePlaintext = ({ hosts, tls }: DatabaseAddress): boolean =>
  tls.use !== "always" && !hosts.every((host) => isUnixSocket(host) || isLoopback(host.host))

export const isUnixSocket = ({ host }: DatabaseHost): boolean => host.startsWith("/")

/** State of a new session. */
interface SessionState {
  readonly isStandby: boolean
  /** Also true on a standby. */
  readonly isReadOnly: boolean
}

/** Returns whether a server satisfies `target_session_attrs`. */
export const isSuitable = (target: TargetSession, { isStandby, isReadOnly }: SessionState): boolean =>
  target === "any" || !(target === "primary" ? isStandby : isReadOnly)

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet("127.0.0.0", 8)
LOOPBACK.addAddress("::1", "ipv6")

const isLoopback = (host: string): boolean =>
  isIP(host) === 0 ? host === "localhost" : LOOPBACK.check(host, isIP(host) === 6 ? "ipv6" : "ipv4")

/** Hosts and ports of an address as text; empty text means the default. */
interface Authority {
  readonly hosts: ReadonlyArray<string>
  readonly ports: ReadonlyArray<string>
}

const readAuthority = (text: string): Authority | undefined => {
  const pairs = text.split(",").map((pair) => /^(?:\[([^[\]]*)\]|([^[\]:\s<>^|]*))(?::(\d{0,5}))?$/.exec(pair))
  if (!pairs.every((pair) => pair !== null)) return undefined
  if (!pairs.every(([, v6, , port]) => (v6 === undefined || isIP(v6) === 6) && Number(port ?? "") <= 65_535)) {
    return undefined
  }
  return { hosts: pairs.map(([, v6, name]) => v6 ?? decode(name!)), ports: pairs.map(([, , , port]) => port ?? "") }
}

const readHosts = (parameters: ReadonlyMap<string, string>, given: Authority): ReadonlyArray<DatabaseHost> => {
  const hosts = parameters.get("host")?.split(",") ?? given.hosts
  const ports = parameters.get("port")?.split(",") ?? given.ports
  if (ports.length !== 1 && ports.length !== hosts.length) {
    throw new RangeError(`port has ${ports.length} numbers for ${hosts.length} hosts`)
  }
  return hosts.map((host, i) => {
    const port = (ports.length === 1 ? ports[0] : ports[i]) || "5432"
    return { host: host || "localhost", port: wholeNumber("port", port, 1, 65_535) }
  })
}

const readParameters = (query: string): ReadonlyMap<string, string> => {
  const parameters = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(query)) {
    if (!PARAMETERS.includes(name)) {
      // After a password, the name may be part of it.
      const isNamed = /^\w{1,40}$/.test(name) && !parameters.has("password")
      const unknown = isNamed ? `the parameter ${name}` : "a parameter"
      throw new RangeError(`${unknown} is not known; the known ones are ${PARAMETERS.join(", ")}`)
    }
    if (value !== "") parameters.set(name, value)
  }
  return parameters
}

const readTarget = (text = "any"): TargetSession => {
  const target = TARGET_SESSIONS.find((each) => each === text)
  if (target === undefined) throw new RangeError(`target_session_attrs is not one of ${TARGET_SESSIONS.join(", ")}`)
  return target
}

const connectTimeout = (text: string | undefined): Duration.Duration | undefined => {
  if (text === undefined) return undefined
  const seconds = wholeNumber("connect_timeout", text, 0, 86_400)
  return seconds === 0 ? Duration.infinity : Duration.seconds(seconds)
}

const wholeNumber = (name: string, text: string, least: number, most: number): number => {
  if (/^\d{1,6}$/.test(text) && Number(text) >= least && Number(text) <= most) return Number(text)
  throw new RangeError(`${name} is not a whole number from ${least} to ${most}`)
}

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new RangeError("a % in it does not begin the code of a character")
  }
}
