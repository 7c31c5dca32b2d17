import type { NetworkFailure } from "@outreach/domain/deliveries/WebhookClient"
import { Struct } from "effect"

const CODES: Partial<Record<NetworkFailure, ReadonlyArray<string>>> = {
  blocked_address: ["BLOCKED_ADDRESS"],
  refused: ["ECONNREFUSED"],
  reset: ["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"],
  unresolved_name: ["UNRESOLVED_NAME", "ENOTFOUND", "ENODATA", "EAI_AGAIN", "EAI_FAIL", "EAI_NODATA", "EAI_NONAME"],
  name_not_asked: ["NAME_NOT_ASKED"],
  proxy_failed: ["PROXY_FAILED"],
  unreachable_by_proxy: ["UNREACHABLE_BY_PROXY"],
  connect_timeout: ["ETIMEDOUT", "UND_ERR_CONNECT_TIMEOUT"],
  headers_timeout: ["UND_ERR_HEADERS_TIMEOUT"],
  body_timeout: ["UND_ERR_BODY_TIMEOUT"],
  tls: ["EPROTO", "HOSTNAME_MISMATCH", "INVALID_CA", "INVALID_PURPOSE", "PATH_LENGTH_EXCEEDED"],
}

// Node's own names, and OpenSSL's X509_V_ERR names.
const TLS = /^(ERR_SSL_|ERR_TLS_|CERT_|CRL_|DEPTH_ZERO_|ERROR_IN_C|SELF_SIGNED_|UNABLE_TO_)/

/** Maps an error of undici or Node's sockets to a stored failure name. */
export const networkFailure = (error: unknown): NetworkFailure => {
  const code = codeOf(error)
  const known = Struct.keys(CODES).find((failure) => CODES[failure]!.includes(code))
  return known ?? (TLS.test(code) ? "tls" : "unknown")
}

const codeOf = (error: unknown): string => {
  const { code, errors } = (error ?? {}) as { readonly code?: unknown; readonly errors?: readonly unknown[] }
  if (typeof code === "string") return code
  // Several addresses were tried.
  return errors?.[0] === undefined ? "" : codeOf(errors[0])
}
