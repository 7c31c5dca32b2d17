import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { findProgram } from "@outreach/debian-packages/findProgram"
import type { ProgramName } from "@outreach/debian-packages/programs"
import { EndpointRepository } from "@outreach/domain/deliveries/Endpoints"
import { SigningSecretRepository } from "@outreach/domain/deliveries/SigningSecrets"
import { Transaction } from "@outreach/domain/Transaction"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { publishSent, seedCampaign } from "@outreach/testing/seedCampaign"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { Effect, Redacted } from "effect"
import { expect, it } from "vitest"
import { accept, startReceiver, whileDelivering } from "../deliveries/receiver.ts"

type Command = readonly [program: string, ...ReadonlyArray<string>]
interface Library {
  readonly language: string
  readonly name: ProgramName
  /** Downloads the library from its registry, into the folder if the program has no cache. */
  readonly download?: (program: string, folder: string) => Command
  /** Verifies standard input with a secret, an id, a timestamp and a signature, which follow as arguments. */
  readonly verify: (program: string, folder: string) => Command
  /** Whether it requires the padding that earlier secrets lack. */
  readonly isStrict?: boolean
}

const JAVA = "com.standardwebhooks:standardwebhooks:1.2.0"
const COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.9.0:copy"
/** Those that the tests don't run: they verify with the library for JavaScript. */
const LIBRARIES: ReadonlyArray<Library> = [
  { language: "Python", name: "standardwebhooks", verify: (python) => [python, "verify.py"] },
  {
    language: "Go",
    name: "go",
    download: (go) => [go, "mod", "download"],
    verify: (go) => [go, "run", "."],
    isStrict: true,
  },
  {
    language: "Java",
    name: "maven",
    download: (maven, folder) => [maven, "-B", "-q", COPY, `-Dartifact=${JAVA}`, `-DoutputDirectory=${folder}`],
    verify: (_, folder) => ["java", "-cp", join(folder, "*"), "Verify.java"],
  },
]

/** The form of secrets before their length was a multiple of four. */
const EARLIER = "whsec_ph8ibp8CgRz5bcuMZmw3vzZFeuiG3Lj7bZhyBgCVx8r"

const run = runOnDatabase()
/** Delivers an event to an endpoint with a new and an earlier secret. */
const deliver = () =>
  run(function* () {
    const { url: endpointUrl, receives } = yield* Effect.promise(() => startReceiver(accept))
    const { campaign, endpoint, organization, secret } = yield* seedCampaign({ recipients: 0, endpointUrl })
    yield* EndpointRepository.use(({ update }) => update(endpoint.id, { standardWebhooks: true }))
    const { rotate } = yield* SigningSecretRepository
    yield* (yield* Transaction).run(rotate({ organizationId: organization.id }, Redacted.make(EARLIER), 3600))
    yield* publishSent(campaign, 1)
    const [call] = yield* whileDelivering(receives(1))
    return { ...call!, secret: Redacted.value(secret) }
  })

/** Runs a command next to this file. Returns its error output, which is empty on success. */
const errorsOf = ([program, ...args]: Command, input: string | Buffer = "") => {
  const running = promisify(execFile)(program, args, { cwd: import.meta.dirname })
  running.child.stdin!.on("error", () => {}).end(input)
  return running.then(() => "", String)
}

it.for(LIBRARIES)(
  "the official library for $language verifies a delivery with the secret as issued",
  async (library, { skip }) => {
    const found = findProgram(library.name)
    if ("missing" in found) return skip(found.missing)
    const folder = temporaryFolder("library")
    const failure = library.download && (await errorsOf(library.download(found.program, folder)))
    if (failure) return skip(`the library could not be downloaded: ${failure}`)

    const { headers, body, secret } = await deliver()
    const values = ["id", "timestamp", "signature"].map((name) => String(headers[`webhook-${name}`]))
    const verify = (text: string, received = body) =>
      errorsOf([...library.verify(found.program, folder), text, ...values], received)
    expect(await verify(secret)).toBe("")
    expect(await verify(secret, Buffer.from(`${body} `))).toMatch(/no matching signature/i)
    expect(await verify(library.isStrict ? `${EARLIER}=` : EARLIER)).toBe("")
    if (library.isStrict) expect(await verify(EARLIER)).toMatch(/illegal base64/)
  },
)
