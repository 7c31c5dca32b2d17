import { X509Certificate } from "node:crypto"
import { readFileSync } from "node:fs"
import { type ConnectionOptions, createSecureContext, getCACertificates, type SecureContextOptions } from "node:tls"

/** Encryption of a connection: never, if offered by the server, or required. */
export type Tls =
  | { readonly use: "never" }
  | { readonly use: "offered" | "always"; readonly options: ConnectionOptions }

const SSL_MODES = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"]

/**
 * Parses libpq's `sslmode`, `sslrootcert`, `sslcert` and `sslkey`, and reads their files.
 *
 * `allow` is treated as `prefer`. Throws `RangeError` with the reason if a parameter or file is unusable.
 */
export const readTls = (parameters: ReadonlyMap<string, string>): Tls => {
  const root = parameters.get("sslrootcert")
  const mode = parameters.get("sslmode") ?? (root === "system" ? "verify-full" : "prefer")
  if (!SSL_MODES.includes(mode)) throw new RangeError(`sslmode is not one of ${SSL_MODES.join(", ")}`)
  if (root === "system" && mode !== "verify-full") {
    throw new RangeError(
      `sslrootcert=system needs sslmode=verify-full, because any name's owner has such a certificate`,
    )
  }
  if (mode === "verify-ca" && root === undefined) throw new RangeError("sslmode=verify-ca needs sslrootcert")
  if (mode === "disable") return { use: "never" }
  const verifies = mode === "verify-full" || root !== undefined
  return {
    use: mode === "allow" || mode === "prefer" ? "offered" : "always",
    options: {
      secureContext: createContext({ ca: verifies ? readRoots(root) : [], ...readClientCertificate(parameters) }),
      rejectUnauthorized: verifies,
      ...(mode !== "verify-full" && { checkServerIdentity: () => undefined }),
    },
  }
}

const readRoots = (root: string | undefined): string[] => {
  if (root === undefined || root === "system") return systemRoots()
  const ca = read("sslrootcert", root).match(/-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----/gs) ?? []
  if (ca.length === 0 || !ca.every(isCertificate)) {
    throw new RangeError("the file of sslrootcert does not hold certificates in PEM")
  }
  return ca
}

/** Returns the machine's trusted certificates; Node's own if there are none, as in a slim container. */
const systemRoots = (): string[] => {
  const system = getCACertificates("system")
  return [...(system.length > 0 ? system : getCACertificates("bundled")), ...getCACertificates("extra")]
}

const readClientCertificate = (parameters: ReadonlyMap<string, string>): SecureContextOptions => {
  const [cert, key] = [parameters.get("sslcert"), parameters.get("sslkey")]
  if (cert === undefined && key === undefined) return {}
  if (cert === undefined || key === undefined) throw new RangeError("sslcert and sslkey need each other")
  return { cert: read("sslcert", cert), key: read("sslkey", key) }
}

const createContext = (options: SecureContextOptions) => {
  try {
    return createSecureContext(options)
  } catch {
    throw new RangeError("the files of sslcert and sslkey do not hold a certificate and its unencrypted key in PEM")
  }
}

const isCertificate = (pem: string): boolean => {
  try {
    return new X509Certificate(pem) !== undefined
  } catch {
    return false
  }
}

const read = (name: string, path: string): string => {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new RangeError(`the file of ${name} ${code === "ENOENT" ? "does not exist" : `cannot be read (${code})`}`)
  }
}
