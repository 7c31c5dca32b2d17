import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { ReplyReader } from "@outreach/backoffice/recipients/ReplyReader"
import { Effect } from "effect"
import { formatCount, nameIn } from "../../components/format.ts"
import { FilterBar } from "../../components/forms.tsx"
import { Page, Table } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { IdLink, Time } from "../../components/values.tsx"
import { choice, organizationFilter } from "../../http/inputs.ts"
import { definePage } from "../../http/Route.ts"

const LIMIT = 100

const inputs = {
  organization: organizationFilter,
  state: choice("State", [["all", "Waiting or done"]], { all: "Waiting" }),
}

/** What people wrote to the return paths of their messages. The text stands on the page of its clinician. */
export const repliesPage = definePage("/replies", {
  inputs,
  run: Effect.fnUntraced(function* ({ organization, state }) {
    const { listAll, listWaiting } = yield* ReplyReader
    const replies = yield* (state === "all" ? listAll : listWaiting)(organization, LIMIT)
    const organizations = yield* (yield* OrganizationReader).list
    return (
      <Page title="Replies" commands={[ops("replies list", { organization, all: state !== undefined })]}>
        <FilterBar
          inputs={inputs}
          values={{ organization, state }}
          controls={{ organization: { options: organizations } }}
        />
        <Table
          label={state === "all" ? "Replies, newest first" : "Replies that wait, oldest first"}
          rows={replies}
          empty="Nobody waits for an answer. What a clinician writes back to a message stands here until an operator marks it as done on the clinician's page."
          columns={{
            From: ({ recipientId }) => <a href={`/people/${recipientId}`}>A clinician</a>,
            Organization: ({ organizationId: id }) => <IdLink id={id}>{nameIn(organizations, id)}</IdLink>,
            Campaign: ({ campaignId }) => <IdLink id={campaignId} />,
            Received: ({ receivedAt }) => <Time at={receivedAt} />,
            Characters: { number: ({ subject, text }) => formatCount(subject.length + text.length) },
            Done: ({ doneAt }) => <Time at={doneAt} none="waits" />,
          }}
        />
        {replies.length === LIMIT && <p>The first {LIMIT} are shown; the command lists more.</p>}
      </Page>
    )
  }),
})
