/** Refuses an API key that no header can hold; says nothing of what it holds. */
export function assertApiKey(apiKey: unknown): asserts apiKey is string {
  if (apiKey === undefined || apiKey === null || apiKey === "") {
    throw new TypeError(
      `apiKey is ${apiKey === "" ? "empty" : apiKey}: give the whole key, such as process.env.OUTREACH_KEY, and check that it is set`,
    )
  }
  // Checked here, because `fetch` would quote a malformed header in its error.
  if (typeof apiKey !== "string" || !/^[\x21-\x7e]+$/.test(apiKey) || /^["'`]|["'`]$/.test(apiKey)) {
    throw new TypeError(
      "apiKey must be printable ASCII characters without a space, a line break or quotes: give the key alone, as it was issued",
    )
  }
}

/** Returns the address before which `/v1` stands, from one that may end in `/v1` or in slashes. */
export function parseBaseUrl(baseUrl: unknown): string {
  const url = typeof baseUrl === "string" ? urlOf(baseUrl) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new TypeError("baseUrl must be an address with http or https, such as https://api.example.com")
  }
  if (url.username + url.password + url.search + url.hash !== "") {
    throw new TypeError("baseUrl must be without a user, a password, a query and a fragment")
  }
  return url.origin + url.pathname.replace(/(?:\/+v1)?\/*$/, "")
}

function urlOf(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}

/** Refuses seconds that no wait could last, such as NaN. */
export function assertSeconds(name: string, seconds: unknown, min: "zero" | "above zero"): void {
  const good = typeof seconds === "number" && (min === "zero" ? seconds >= 0 : seconds > 0)
  if (!good)
    throw new RangeError(`${name} must be a number of seconds, ${min === "zero" ? "0 or more" : "more than 0"}`)
}
