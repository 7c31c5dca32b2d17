import { type Finding, failed, ok, warning } from "@outreach/domain/operators/Finding"
import { RELEASE } from "@outreach/process/release"
import { networkFailure } from "@outreach/webhooks/networkFailure"
import { ConfigProvider, Effect, Schema } from "effect"
import { readOn, type SettingsReader } from "./processSettings.ts"

/** Texts that stand in examples for a value of one's own. */
const PLACEHOLDER =
  /…|<[^>@]*>|change[-_ ]?me|replace[-_ ]?(?:me|this)|\byour[-_]|\bexample\.(?:com|net|org|test)\b|\.example\b/i

/** A key that somebody typed repeats its bytes. */
const MIN_DISTINCT_BYTES = 12

/**
 * Reads the settings of a process as the process does, and judges each of them. A missing one is a warning, because it may stand elsewhere.
 */
export const settingFindings = Effect.fnUntraced(function* (reader: SettingsReader) {
  const environment = yield* ConfigProvider.ConfigProvider
  const { title } = reader
  const { names, sentences } = yield* readOn(reader)
  const texts = yield* Effect.forEach([...names], (name) =>
    Effect.orElseSucceed(environment.load([name]), () => undefined).pipe(
      Effect.map((node) => ({ name, text: node?._tag === "Value" ? node.value : "" })),
    ),
  )
  const present = texts.filter(({ text }) => text !== "")
  const findings = [
    ...sentences.map((sentence) =>
      /^\w+ is not set\./.test(sentence)
        ? warning(sentence, `The ${title} would not start with this environment.`)
        : failed(sentence, `The ${title} does not start; correct the setting.`),
    ),
    ...present
      .filter(({ text }) => PLACEHOLDER.test(text))
      .map(({ name }) => warning(`${name} of the ${title} looks like a placeholder.`, "Set your own value.")),
    ...present
      .filter(({ name, text }) => /^(?:SECRETS|CURSOR)_KEY$/.test(name) && isTyped(text))
      .map(({ name }) =>
        warning(`${name} of the ${title} does not look random.`, "Make one with `openssl rand -base64 32`."),
      ),
  ]
  if (findings.length > 0) return findings
  return [ok(`The ${title} accepts its ${names.size} settings, of which ${present.length} are set.`)]
})

const isTyped = (text: string): boolean =>
  new Set(Buffer.from(text.slice(text.lastIndexOf(":") + 1), "base64")).size < MIN_DISTINCT_BYTES

const TIME_LIMIT_MS = 10_000

const Health = Schema.Struct({ status: Schema.String, version: Schema.String })

/** Asks the API for its health by its public address, where the links of e-mails lead. */
export const publicUrlFinding = (baseUrl: string): Effect.Effect<Finding, Finding> =>
  Effect.tryPromise({
    try: async (signal) => {
      const response = await fetch(`${baseUrl}/v1/health`, {
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIME_LIMIT_MS)]),
        redirect: "manual",
      })
      return { status: response.status, body: await response.json().catch(() => null) }
    },
    catch: (error) => {
      const { name, cause } = error as Error
      const reason = name === "TimeoutError" ? "it took too long" : networkFailure(cause)
      return failed(
        `The API does not respond at PUBLIC_BASE_URL: ${reason}.`,
        "Start it, or correct PUBLIC_BASE_URL. The links of e-mails lead there.",
      )
    },
  }).pipe(
    Effect.map(({ status, body }) => {
      const host = new URL(baseUrl).host
      if (status !== 200 || !Schema.is(Health)(body)) {
        return failed(
          `PUBLIC_BASE_URL leads to ${host}, which is not this API: it answers /v1/health with ${status}.`,
          "Correct PUBLIC_BASE_URL, or the route of the load balancer. The links of e-mails lead there.",
        )
      }
      return body.version === RELEASE
        ? ok(`The API answers at PUBLIC_BASE_URL with the release ${body.version}.`)
        : warning(
            `The API answers at PUBLIC_BASE_URL with the release ${body.version}, and this is ${RELEASE}.`,
            "Deploy the same release everywhere.",
          )
    }),
  )
