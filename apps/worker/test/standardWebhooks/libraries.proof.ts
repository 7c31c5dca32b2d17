import { execFile } from "node:child_process"
import { copyFileSync } from "node:fs"
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
  readonly name?: ProgramName
  /** Files next to this proof that the commands need in their folder. */
  readonly files?: ReadonlyArray<string>
  /** Downloads the library from its registry. */
  readonly download?: (program: string) => Command
  /** Verifies standard input with a secret, an id, a timestamp and a signature, which follow as arguments. */
  readonly verify: (program: string) => Command
  /** Whether it requires the padding that earlier secrets lack. */
  readonly isStrict?: boolean
}

const JAR = "standardwebhooks-1.2.0.jar"
const LIBRARIES: ReadonlyArray<Library> = [
  { language: "JavaScript", verify: () => [process.execPath, join(import.meta.dirname, "verify.ts")] },
  {
    language: "Python",
    name: "standardwebhooks",
    verify: (python) => [python, join(import.meta.dirname, "verify.py")],
  },
  {
    language: "Go",
    name: "go",
    files: ["go.mod", "go.sum", "verify.go"],
    download: (go) => [go, "mod", "download"],
    verify: (go) => [go, "run", "."],
    isStrict: true,
  },
  {
    language: "Java",
    name: "maven",
    download: (maven) => [
      maven,
      ..."--batch-mode --quiet org.apache.maven.plugins:maven-dependency-plugin:3.9.0:copy".split(" "),
      ...["-Dartifact=com.standardwebhooks:standardwebhooks:1.2.0", "-DoutputDirectory=."],
    ],
    verify: () => ["java", "-cp", JAR, join(import.meta.dirname, "Verify.java")],
  },
]

/** The form of secrets before their length was a multiple of four. */
const EARLIER = "whsec_ph8ibp8CgRz5bcuMZmw3vzZFeuiG3Lj7bZhyBgCVx8r"

const run = runOnDatabase()

/** Delivers an event to an endpoint with a new and an earlier secret. */
const deliver = () =>
  run(function* () {
    const receiver = yield* Effect.promise(() => startReceiver(accept))
    const { campaign, endpoint, organization, secret } = yield* seedCampaign({
      recipients: 0,
      endpointUrl: receiver.url,
    })
    yield* EndpointRepository.use(({ update }) => update(endpoint.id, { standardWebhooks: true }))
    const { rotate } = yield* SigningSecretRepository
    const owner = { organizationId: organization.id }
    yield* (yield* Transaction).run(rotate(owner, Redacted.make(EARLIER), 3600))
    yield* publishSent(campaign, 1)
    const [call] = yield* whileDelivering(receiver.receives(1))
    return { ...call!, secret: Redacted.value(secret) }
  })

it.for(LIBRARIES)(
  "the official library for $language verifies a delivery with the secret as issued",
  async (library, { skip }) => {
    const found = library.name === undefined ? { program: "" } : findProgram(library.name)
    if ("missing" in found) return skip(found.missing)
    const cwd = temporaryFolder("library")
    for (const file of library.files ?? []) copyFileSync(join(import.meta.dirname, file), join(cwd, file))
    /** Returns the error output of a command, which is empty on success. */
    const errorsOf = async ([program, ...args]: Command, input: string | Buffer = "") => {
      const running = promisify(execFile)(program, args, { cwd })
      running.child.stdin!.on("error", () => {})
      running.child.stdin!.end(input)
      return running.then(
        () => "",
        ({ message }: Error) => message,
      )
    }
    const failure = library.download && (await errorsOf(library.download(found.program)))
    if (failure) return skip(`the library could not be downloaded: ${failure}`)

    const { headers, body, secret } = await deliver()
    const values = ["id", "timestamp", "signature"].map((name) => String(headers[`webhook-${name}`]))
    const verify = (text: string, received = body) =>
      errorsOf([...library.verify(found.program), text, ...values], received)
    expect(await verify(secret)).toBe("")
    expect(await verify(secret, Buffer.from(`${body} `))).toMatch(/no matching signature/i)
    expect(await verify(library.isStrict ? `${EARLIER}=` : EARLIER)).toBe("")
    if (library.isStrict) expect(await verify(EARLIER)).toMatch(/illegal base64/)
  },
)
