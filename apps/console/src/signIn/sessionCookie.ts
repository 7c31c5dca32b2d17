/** Returns the name of the session's cookie. With TLS, browsers take it from this host alone. */
export const sessionCookie = (consoleUrl: string): string =>
  consoleUrl.startsWith("https:") ? "__Host-session" : "session"
