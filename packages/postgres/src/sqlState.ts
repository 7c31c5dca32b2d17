/** Returns the SQLSTATE of an error or of its cause. */
export const sqlState = (error: unknown): string | undefined => {
  for (let each = error; typeof each === "object" && each !== null; ) {
    const { code, reason, cause } = each as {
      readonly code?: unknown
      readonly reason?: unknown
      readonly cause?: unknown
    }
    if (typeof code === "string" && /^[0-9A-Z]{5}$/.test(code)) return code
    each = cause ?? reason
  }
  return undefined
}
