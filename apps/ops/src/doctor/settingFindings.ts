import { failed, ok, warning } from "@outreach/domain/operators/Finding"
import { networkFailure } from "@outreach/process/networkFailure"
import { RELEASE } from "@outreach/process/release"
import { Effect, Schema } from "effect"
import { readOn, type SettingsReader } from "./processSettings.ts"

/** Reads the settings of a process as the process does. A missing one is only a warning, because it may be set elsewhere. */
export const settingFindings = Effect.fnUntraced(function* (reader: SettingsReader) {
  const { title } = reader
  const { names, sentences } = yield* readOn(reader)
  if (sentences.length === 0) return [ok(`The ${title} accepts its ${names.size} settings.`)]
  return sentences.map((sentence) =>
    /^\w+ is not set\./.test(sentence)
      ? warning(sentence, `The ${title} would not start with this environment.`)
      : failed(sentence, `The ${title} does not start; correct the setting.`),
  )
})

const Health = Schema.Struct({ status: Schema.String, version: Schema.String })

/** Checks the API's health at its public URL, the target of the links in e-mails. */
export const publicUrlFinding = Effect.fnUntraced(function* (baseUrl: string) {
  const { status, body } = yield* Effect.tryPromise({
    try: async (signal) => {
      const response = await fetch(`${baseUrl}/v1/health`, { signal, redirect: "manual" })
      return { status: response.status, body: await response.json().catch(() => null) }
    },
    catch: (error) => networkFailure((error as Error).cause),
  }).pipe(
    Effect.timeoutOrElse({ duration: "10 seconds", orElse: () => Effect.fail("it took too long") }),
    Effect.mapError((reason) =>
      failed(
        `The API does not respond at PUBLIC_BASE_URL: ${reason}.`,
        "Start it, or correct PUBLIC_BASE_URL. The links of e-mails lead there.",
      ),
    ),
  )
  if (status !== 200 || !Schema.is(Health)(body)) {
    return failed(
      `PUBLIC_BASE_URL leads to ${new URL(baseUrl).host}, which is not this API: it answers /v1/health with ${status}.`,
      "Correct PUBLIC_BASE_URL, or the route of the load balancer. The links of e-mails lead there.",
    )
  }
  const found = `The API answers at PUBLIC_BASE_URL with the release ${body.version}`
  return body.version === RELEASE
    ? ok(`${found}.`)
    : warning(`${found}, and this is ${RELEASE}.`, "Deploy the same release everywhere.")
})
