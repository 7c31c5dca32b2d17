import { createPrivateKey, X509Certificate } from "node:crypto"
import { readFileSync } from "node:fs"
import { createSecureContext } from "node:tls"
import { Redacted } from "effect"

/** A certificate chain and its key in PEM, with their file names. */
export interface Certificate {
  readonly cert: string
  readonly key: Redacted.Redacted
  readonly certFile: string
  readonly keyFile: string
}

/** Reads a certificate and its key from files, or returns an error message that doesn't quote the key. */
export const readCertificate = (
  files: Pick<Certificate, "certFile" | "keyFile">,
): Certificate | { readonly problem: string } => {
  const { certFile, keyFile } = files
  const cert = readText(certFile)
  if (cert === undefined) return { problem: "the file of the certificate cannot be read" }
  const key = readText(keyFile)
  if (key === undefined) return { problem: "the file of the key cannot be read" }
  try {
    createSecureContext({ cert, key })
    if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) {
      return { problem: "the key is not that of the certificate" }
    }
  } catch (error) {
    const { code } = error as { readonly code?: string }
    return { problem: `the files are not a certificate and its key in PEM (${code ?? "unknown"})` }
  }
  return { cert, key: Redacted.make(key, { label: "BOUNCE_TLS_KEY" }), certFile, keyFile }
}

const readText = (file: string): string | undefined => {
  try {
    return readFileSync(file, "utf8")
  } catch {
    return undefined
  }
}
