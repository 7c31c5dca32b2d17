import type { NetworkFailure } from "@outreach/domain/deliveries/WebhookClient"

const BY_CODE: Readonly<Record<string, NetworkFailure>> = {
  BLOCKED_ADDRESS: "blocked_address",
  ECONNREFUSED: "refused",
  ECONNRESET: "reset",
  EPIPE: "reset",
  UND_ERR_SOCKET: "reset",
  UNRESOLVED_NAME: "unresolved_name",
  NAME_NOT_ASKED: "name_not_asked",
  ENOTFOUND: "unresolved_name",
  ENODATA: "unresolved_name",
  EAI_AGAIN: "unresolved_name",
  EAI_FAIL: "unresolved_name",
  EAI_NODATA: "unresolved_name",
  EAI_NONAME: "unresolved_name",
  ETIMEDOUT: "connect_timeout",
  UND_ERR_CONNECT_TIMEOUT: "connect_timeout",
  UND_ERR_HEADERS_TIMEOUT: "headers_timeout",
  UND_ERR_BODY_TIMEOUT: "body_timeout",
  EPROTO: "tls",
  HOSTNAME_MISMATCH: "tls",
  INVALID_CA: "tls",
  INVALID_PURPOSE: "tls",
  PATH_LENGTH_EXCEEDED: "tls",
}

// Node's own names, and OpenSSL's X509_V_ERR names.
const TLS = /^(ERR_SSL_|ERR_TLS_|CERT_|CRL_|DEPTH_ZERO_|ERROR_IN_C|SELF_SIGNED_|UNABLE_TO_)/

/** Maps an error of undici or Node's sockets to a stored failure name. */
export const networkFailure = (error: unknown): NetworkFailure => {
  const code = codeOf(error)
  return BY_CODE[code] ?? (TLS.test(code) ? "tls" : "unknown")
}

const codeOf = (error: unknown): string => {
  const { code, errors } = (error ?? {}) as { readonly code?: unknown; readonly errors?: readonly unknown[] }
  if (typeof code === "string") return code
  // Several addresses were tried.
  return errors?.[0] === undefined ? "" : codeOf(errors[0])
}
