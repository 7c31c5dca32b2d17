/** A database error for operators: a code, and advice as a sentence without full stop. */
export interface DatabaseFault {
  /** SQLSTATE, Node's code for network or TLS errors, or one of `DRIVER_CODES`. */
  readonly code: string
  readonly advice: string
}

/** A failed connection with a known fault. */
export class SocketError extends Error {
  readonly code: string
  constructor({ code, advice }: DatabaseFault) {
    super(advice)
    this.code = code
  }
}

const STOPPED = "the server is starting, shutting down or recovering; wait, and look at its log if this lasts"
const UNTRUSTED =
  "this process does not trust the issuer of the server's certificate; name the issuer's certificate by sslrootcert in DATABASE_URL, or in NODE_EXTRA_CA_CERTS"
const POOLER =
  "a connection pooler loses prepared statements; connect to the server itself, or let the pooler keep sessions"

/** Advice by SQLSTATE or its class of two characters (PostgreSQL, appendix A). */
const SQLSTATES: Readonly<Record<string, string>> = {
  "08": "the server or a pooler before it refused the connection; look at its log",
  "08P01":
    "the server or a pooler before it refused the connection; let a pooler accept the settings that the process sends, or connect to the server itself",
  "22": "the server refuses a setting of the connection, or a value; look at the server's log",
  "25006": "the database is read-only; point DATABASE_URL at the primary, or set default_transaction_read_only to off",
  "26000": POOLER,
  "28": "the server does not let the user of DATABASE_URL in from this machine; check whether the role may log in, pg_hba.conf, and whether it demands TLS",
  "28P01":
    "the server refuses the user or the password of DATABASE_URL; correct them there, or set the role's password",
  "3D000": "there is no database of the name in DATABASE_URL; correct the name, or create the database",
  "42501": "the role of DATABASE_URL lacks a right on the database or its tables; the owner grants it",
  "42P05": POOLER,
  "53": "the server is short of a resource; look at its memory, disk and log",
  "53100": "the server's disk is full; free some space",
  "53200": "the server is out of memory; give it more, or lower its settings",
  "53300":
    "the server has no connection left for this role; raise max_connections or the limit of the role or database, or run fewer processes",
  "55000": "the database accepts no connections; allow them (`alter database … allow_connections true`)",
  "57014": "a statement exceeded its time limit; look for locks and load on the server",
  "57P": STOPPED,
  "58": "the server cannot read or write its files; look at its disk and log",
  XX: "the server reports an internal error; look at its log",
}

const CLOSED =
  "the connection was closed; look for a restart of the server, or for a proxy or firewall that closes connections"
const UNREACHABLE = "there is no route to the host of DATABASE_URL; check the address and the network"

/** Advice by Node's network and TLS codes, and by our own. */
const OTHER_CODES: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens at the host and port of DATABASE_URL; start the server, or correct them",
  ECONNRESET: CLOSED,
  EPIPE: CLOSED,
  ENOTFOUND: "the host name of DATABASE_URL does not resolve; correct it, or its DNS record",
  EAI_AGAIN: "the name server does not resolve the host name of DATABASE_URL now; check the DNS",
  ETIMEDOUT:
    "the database was silent for too long; check the host and port of DATABASE_URL, firewalls, and the server's load",
  EPROTO: "what listens at the host and port of DATABASE_URL is not PostgreSQL; correct them",
  TLS_REFUSED: "the server offers no TLS, which DATABASE_URL demands; enable it there, or change sslmode",
  NO_PASSWORD: "the server asks for a password and DATABASE_URL holds none; add it",
  AUTHENTICATION: "the server asks for a method of authentication that is not supported; use scram-sha-256",
  DATABASE_URL: "DATABASE_URL cannot be used to connect; correct its user, port and parameters",
  NO_SUITABLE_HOST:
    "no host of DATABASE_URL is a server that its target_session_attrs takes; promote a standby, or correct the hosts",
  DRIVER_FAILURE:
    "the exchange with the database failed on this side; run the command again, and look at the server's log if this lasts",
  EHOSTUNREACH: UNREACHABLE,
  ENETUNREACH: UNREACHABLE,
  ENOENT: "the socket of DATABASE_URL does not exist; start the server, or correct the path",
  EACCES: "this process may not open the socket of DATABASE_URL; correct its permissions",
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  CERT_HAS_EXPIRED: "the server's certificate has expired; renew it",
  CERT_NOT_YET_VALID: "the server's certificate is not valid yet; check the clocks of both machines",
  ERR_TLS_CERT_ALTNAME_INVALID:
    "the server's certificate is for another host; use a host name in DATABASE_URL that the certificate names",
}

/** Code of a failure without SQLSTATE or network code. */
const DRIVER_FAILURE = "DRIVER_FAILURE"

const TLS_FAILED = "TLS with the server failed; check its certificate and its TLS settings"

const DEFAULT = "look the code up in PostgreSQL's list of error codes, and look at the server's log"

/** Codes for failures that the driver describes only by fixed text. */
const DRIVER_CODES = [
  [/timed out/, "ETIMEDOUT"],
  [/closed/i, "ECONNRESET"],
  [/refused TLS/, "TLS_REFUSED"],
  [/No password/, "NO_PASSWORD"],
  [/SCRAM|authentication/i, "AUTHENTICATION"],
  [/startup|URL|keepAlive|username/, "DATABASE_URL"],
  [/parse|desync|SSLRequest/, "EPROTO"],
] as const

/**
 * Describes a driver error by its code and advice.
 *
 * Omits the server's text, which may contain row data, and the address with its password.
 */
export const describeDatabaseError = (error: unknown): DatabaseFault => {
  const chain = [...causesOf(error)]
  const known = chain.find((link) => link instanceof SocketError)
  if (known !== undefined) return { code: known.code, advice: known.message }
  for (const { code } of chain) if (isCode(code)) return { code, advice: refusalAdvice(error) ?? adviceOn(code) }
  if (chain.some(({ _tag }) => _tag === "TimeoutError")) return faultOf("ETIMEDOUT")
  const words = chain.find(({ _tag }) => isConnecting(_tag))?.message
  const [, code] = DRIVER_CODES.find(([pattern]) => typeof words === "string" && pattern.test(words)) ?? []
  return faultOf(code ?? DRIVER_FAILURE)
}

/** Returns whether a pooler rejected session settings. PgBouncer uses the same SQLSTATE for most of its errors. */
export const isPoolerRefusal = (error: unknown): boolean => hasMessage(error, /^unsupported startup parameter/)

const refusalAdvice = (error: unknown): string | undefined => {
  if (isPoolerRefusal(error)) {
    return "a pooler refuses settings of the session; set DATABASE_LISTEN_URL to the address of the database itself"
  }
  // PostgreSQL returns the SQLSTATE of a missing line in pg_hba.conf.
  return hasMessage(error, /is not permitted to log in$/)
    ? "the role of DATABASE_URL may not log in; allow it (`alter role … login`), or use another role"
    : undefined
}

const hasMessage = (error: unknown, pattern: RegExp): boolean =>
  [...causesOf(error)].some(({ message }) => pattern.test(String(message)))

export const faultOf = (code: string): DatabaseFault => ({ code, advice: adviceOn(code) })

export const adviceOn = (code: string): string => {
  if (!isSqlState(code)) return OTHER_CODES[code] ?? (/TLS|SSL|CERT/.test(code) ? TLS_FAILED : DEFAULT)
  return SQLSTATES[code] ?? SQLSTATES[code.slice(0, 3)] ?? SQLSTATES[code.slice(0, 2)] ?? DEFAULT
}

/** Returns whether a code means that no statement can succeed: no connection, or a server without resources. */
export const isOutage = (code: string): boolean =>
  isSqlState(code) ? /^(?:08|28|3D|53|57P)/.test(code) : code !== DRIVER_FAILURE

/** Returns whether the server itself rejected a connection, and not only because it is starting or stopping. */
export const isRejection = (code: string): boolean => isSqlState(code) && !/^57P0[123]$/.test(code)

/** Node's codes of five letters, such as EPIPE, contain no digit. */
const isSqlState = (code: string): boolean => /^(?=.*\d)[0-9A-Z]{5}$/.test(code)

const isCode = (code: unknown): code is string => typeof code === "string" && /^[0-9A-Z_]{4,60}$/.test(code)

const isConnecting = (tag: unknown): boolean => tag === "ConnectionError" || tag === "AuthenticationError"

interface Link {
  readonly _tag?: unknown
  readonly code?: unknown
  readonly message?: unknown
  readonly reason?: unknown
  readonly cause?: unknown
}

/** Returns an error and its chain of causes. */
function* causesOf(error: unknown): Generator<Link> {
  for (let each = error; typeof each === "object" && each !== null; ) {
    const link: Link = each
    yield link
    each = link.cause ?? link.reason
  }
}
