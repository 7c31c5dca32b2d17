import { InboxReader } from "@outreach/backoffice/inbox/InboxReader"
import { inbox as inboxList, toInboxRow } from "@outreach/backoffice/lists/inbox"
import { organizationId } from "@outreach/backoffice/operations/fields"
import { replayInbox } from "@outreach/backoffice/operations/inbox"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { InboxRepository } from "@outreach/domain/inbox/InboxRepository"
import { maskContent } from "@outreach/domain/inbox/maskContent"
import { InboxRepositoryPg } from "@outreach/postgres/inbox/InboxRepositoryPg"
import { Layer } from "effect"
import { group, revealing } from "../Declaration.ts"
import { switchFlag, textArgument } from "../inputs/Input.ts"
import { listCommand } from "../listCommand.ts"
import { command, inputsOf } from "../operationCommand.ts"
import { formatRecord } from "../output/Output.ts"

const show = revealing({
  about: "Show an event that a partner sent: its state, and its content without personal data",
  examples: ["ops inbox show --organization org_… evt_…"],
  input: {
    ...inputsOf({ organizationId }),
    event: textArgument("The event's id as the partner sent it, evt_…"),
    reveal: switchFlag("Show the content as it was sent, with its personal data"),
  },
  *run({ organizationId, event, reveal }) {
    const { body, ...found } = yield* InboxRepository.use(({ find }) => find(organizationId, event))
    const content = reveal ? { body } : { content: JSON.stringify(maskContent(body), null, 2) }
    return { ...toInboxRow(found), ...content }
  },
  format: ({ content, body, ...entry }) => `${formatRecord(entry)}\n\n${body ?? content}`,
})

export const inbox = group({
  about: "Events that the partners sent",
  commands: { list: listCommand(inboxList), show, replay: command(replayInbox) },
  services: Layer.mergeAll(InboxRepositoryPg, InboxReader.layer, OrganizationReader.layer),
})
