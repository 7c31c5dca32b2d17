import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Client } from "@outreach/client"
import { Effect, Schedule } from "effect"
import { COMMANDS } from "./commands.ts"
import type { Display } from "./openDisplay.ts"
import type { SeededPartner } from "./seed/seedPartner.ts"

const SINCE = "2020-01-01T00:00:00Z"

/** Shows the commands to try, once there is a record to pull, and writes them to a file. */
export const showCommands = Effect.fnUntraced(function* (
  display: Display,
  sandbox: {
    readonly folder: string
    readonly baseUrl: string
    readonly inboundUrl: string
    readonly seeded: SeededPartner
    readonly client: Client
  },
) {
  const { folder, baseUrl, inboundUrl, seeded, client } = sandbox
  // The API may be restarting.
  const oldest = yield* Effect.tryPromise(() =>
    client.listTokens({ since: SINCE, limit: 1 })[Symbol.asyncIterator]().next(),
  ).pipe(Effect.retry(Schedule.spaced("1 second")), Effect.orDie)
  const tokens = `${baseUrl}/v1/partners/consumer/tokens`
  const curl = `curl -s -H 'Authorization: Bearer ${seeded.api_key}'`
  const { organization_id: organization, signing_secret: secret } = seeded
  const commands = `Pull the records as a partner does, two per page, or one by its token:

  ${curl} '${tokens}?since=${SINCE}&limit=2'
  ${curl} ${tokens}/${oldest.value!.token}

Send the service an event about a clinician, as a partner does, and see the day's digest:

  ${COMMANDS.webhook} send --url ${inboundUrl} --secret ${secret} --type clinician.account_created
  ${COMMANDS.ops} inbox list --organization ${organization}
  ${COMMANDS.ops} digests show ${new Date().toISOString().slice(0, 10)} --organization ${organization}

Operate it in another terminal: ${COMMANDS.ops} --help
`
  yield* Effect.promise(() => writeFile(join(folder, "commands.txt"), commands, { mode: 0o600 }))
  display.print(`
${commands}
From now on the simulated clinicians act: within two minutes of their e-mail they open, click, bounce, unsubscribe, sign up and qualify.
`)
})
