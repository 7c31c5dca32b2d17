import { BlockList, isIP } from "node:net"
import { Duration, Redacted } from "effect"
import { readTls, type Tls } from "./Tls.ts"

/** How a database is reached, as an address in libpq's form says. */
export interface DatabaseAddress {
  /** A name, an IP address, or the absolute path of the folder that holds a Unix socket. */
  readonly host: string
  readonly port: number
  readonly database: string | undefined
  readonly username: string | undefined
  readonly password: Redacted.Redacted | undefined
  readonly applicationName: string | undefined
  readonly options: string | undefined
  readonly connectTimeout: Duration.Duration | undefined
  readonly tls: Tls
}

const PARAMETERS = [
  ...["host", "port", "dbname", "user", "password", "application_name", "options", "connect_timeout"],
  ...["sslmode", "sslrootcert", "sslcert", "sslkey"],
]

/**
 * Parses an address in libpq's form; returns undefined for anything else. Reads the files of certificates.
 *
 * Throws a `RangeError` with the reason when a parameter is unknown, malformed, or names a file that is of no use.
 */
export const parseDatabaseAddress = (text: string): DatabaseAddress | undefined => {
  // A user without a host is valid in libpq's form alone.
  const url = URL.parse(text.replace(/^(\w+:\/\/[^/?#]*@)(?=[/?]|$)/, "$1localhost"))
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol)) return undefined
  const parameters = readParameters(url)
  const host = parameters.get("host") ?? (decode(url.hostname.replace(/^\[(.*)\]$/, "$1")) || "localhost")
  const password = parameters.get("password") ?? decode(url.password)
  return {
    host,
    port: wholeNumber("port", parameters.get("port") ?? (url.port || "5432"), 1, 65_535),
    database: parameters.get("dbname") ?? (decode(url.pathname.slice(1)) || undefined),
    username: parameters.get("user") ?? (decode(url.username) || undefined),
    password: password === "" ? undefined : Redacted.make(password, { label: "the database's password" }),
    applicationName: parameters.get("application_name"),
    options: parameters.get("options"),
    connectTimeout: connectTimeout(parameters.get("connect_timeout")),
    // A Unix socket is never encrypted, whatever `sslmode` says.
    tls: host.startsWith("/") ? { use: "never" } : readTls(parameters),
  }
}

/** Reports whether what is sent to the database may pass a network unencrypted. */
export const mayBePlaintext = ({ host, tls }: DatabaseAddress): boolean =>
  tls.use !== "always" && !host.startsWith("/") && !isLoopback(host)

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet("127.0.0.0", 8)
LOOPBACK.addAddress("::1", "ipv6")

const isLoopback = (host: string): boolean =>
  isIP(host) === 0 ? host === "localhost" : LOOPBACK.check(host, isIP(host) === 6 ? "ipv6" : "ipv4")

const readParameters = (url: URL): ReadonlyMap<string, string> => {
  const parameters = new Map<string, string>()
  for (const [name, value] of url.searchParams) {
    if (!PARAMETERS.includes(name)) {
      // After a password, the name may be a part of it.
      const unknown = /^\w{1,40}$/.test(name) && !parameters.has("password") ? `the parameter ${name}` : "a parameter"
      throw new RangeError(`${unknown} is not known; the known ones are ${PARAMETERS.join(", ")}`)
    }
    if (value !== "") parameters.set(name, value)
  }
  return parameters
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
