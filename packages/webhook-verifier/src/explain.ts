import { sign } from "@outreach/signature/node"

/** A received header and body, and the secrets that should have signed them. */
export interface Received {
  readonly header: string | undefined
  readonly body: Uint8Array
  readonly secrets: readonly string[]
  /** Time of receipt in Unix seconds. */
  readonly receivedAt: number
}

/** A verdict with its reasons. */
export interface Explanation {
  readonly verified: boolean
  readonly lines: readonly string[]
}

const TOLERANCE = 300

/** Explains why a signature is valid or not: header format, clock, secret, or a changed body. */
export function explain({ header: given, body, secrets, receivedAt }: Received): Explanation {
  const header = given?.replace(/, +/g, ",")
  const refuse = (...lines: string[]): Explanation => ({ verified: false, lines })
  if (header === undefined || header === "") return refuse("There is no X-Signature header.", "Is it lost in a proxy?")
  const faults = headerFaults(header)
  if (faults.length > 0) return refuse(...faults)
  const timestamp = Number(/(?:^|,)t=(\d+)/.exec(header)?.[1])
  const matches = (candidate: Uint8Array | string, secret: string): boolean =>
    secret !== "" && header.split(",").includes(sign(candidate, [secret], { timestamp }).split(",")[1] ?? "")

  const clock = clockLine(receivedAt - timestamp)
  const matching = secrets.findIndex((secret) => matches(body, secret))
  if (matching >= 0) {
    const good = `The signature is good: secret ${matching + 1} of ${secrets.length} made it.`
    const late = Math.abs(receivedAt - timestamp) > TOLERANCE
    if (!late) return { verified: true, lines: [good, clock] }
    return refuse(
      good,
      `${clock} A verifier refuses it unless its tolerance is wider.`,
      "Compare this machine's clock with the time; verify a request that waited in a queue with receivedAt.",
    )
  }
  for (const [index, secret] of secrets.entries()) {
    for (const [how, other] of otherSecrets(secret)) {
      if (matches(body, other)) return refuse(`Secret ${index + 1} is not as it was issued: it matches ${how}.`, clock)
    }
    for (const [how, other] of otherBodies(body)) {
      if (matches(other, secret)) {
        return refuse(
          `The body was altered on its way: it matches ${how}.`,
          "Verify the bytes as they came in, before any parser.",
          clock,
        )
      }
    }
  }
  return refuse(
    secrets.length === 1 ? "The secret did not make this signature." : "None of the secrets made this signature.",
    "Either the secret belongs to another endpoint or was rotated away, or the body differs in a way that cannot be undone (a key's order, a number's form, lost characters).",
    clock,
  )
}

function clockLine(age: number): string {
  if (age === 0) return "It was signed in the second it was received."
  return `It was signed ${Math.abs(Math.round(age))} s ${age > 0 ? "before" : "after"} it was received.`
}

function headerFaults(header: string): string[] {
  const items = header.split(",")
  const faults: string[] = []
  if (/\s/.test(header)) faults.push("The header holds a space that does not follow a comma: was it folded by hand?")
  if (/^x-signature\s*:/i.test(header)) faults.push("The header's name stands in its value.")
  const timestamps = items.filter((item) => item.startsWith("t="))
  if (timestamps.length !== 1) faults.push(`The header has ${timestamps.length} timestamps (t=) instead of one.`)
  else if (!/^t=(?:0|[1-9]\d{0,14})$/.test(timestamps[0] ?? ""))
    faults.push("The timestamp (t=) is not a whole number.")
  const entries = items.filter((item) => item.startsWith("v1="))
  if (entries.length === 0) faults.push("The header has no v1= entry.")
  for (const entry of entries) {
    if (/^v1=[0-9a-f]{64}$/.test(entry)) continue
    faults.push(
      /^v1=[0-9a-f]{64}$/i.test(entry)
        ? "A v1= entry is in capitals; it must be lowercase hex."
        : `A v1= entry has ${entry.length - 3} characters instead of 64 lowercase hex digits.`,
    )
  }
  if (items.some((item) => !/^[^=]+=/.test(item))) faults.push("An item of the header has no name or no =.")
  return faults
}

/** Returns variants of a secret before common storage mistakes. */
function otherSecrets(secret: string): ReadonlyArray<readonly [how: string, secret: string]> {
  return [
    ["without the white space around it", secret.trim()],
    ["without the quotes around it", secret.trim().replace(/^(["'])(.*)\1$/, "$2")],
    ["with the prefix whsec_", `whsec_${secret}`],
    ["without the prefix whsec_", secret.replace(/^whsec_/, "")],
    ["decoded from base64", Buffer.from(secret, "base64").toString("utf8")],
    [
      "decoded from a URL",
      secret.replace(/%[0-9a-f]{2}/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16))),
    ],
  ]
}

/** Yields variants of a body before common alterations. */
function* otherBodies(body: Uint8Array): Generator<readonly [how: string, body: Uint8Array | string]> {
  const text = Buffer.from(body).toString("utf8")
  yield ["after decoding it from base64: Lambda's isBase64Encoded", Buffer.from(text, "base64")]
  yield ["without a byte order mark", text.replace(/^\ufeff/, "")]
  yield ["without the white space around it: a shell or an editor added a line break", text.trim()]
  yield ["with line breaks as LF: something made them CRLF", text.replaceAll("\r\n", "\n")]
  const latin = Buffer.from(text, "latin1")
  yield ["when it is read as UTF-8: something decoded it as Latin-1 and encoded it again", latin]
  yield ["with a line break at its end: something trimmed it", `${text}\n`]
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return
  }
  // A JSON string that contains JSON was serialized twice.
  if (typeof value === "string") yield ["when it is taken out of the JSON string around it", value]
  const compact = JSON.stringify(value)
  yield ["when it is serialised compactly (JSON.stringify(body)): a parser read it and it was written anew", compact]
  yield ["when it is serialised with two spaces of indentation", JSON.stringify(value, null, 2)]
  yield ["when it is serialised with spaces after : and , (Python's json.dumps)", spaced(value)]
}

function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(", ")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([key, member]) => `${JSON.stringify(key)}: ${spaced(member)}`)
    .join(", ")}}`
}
