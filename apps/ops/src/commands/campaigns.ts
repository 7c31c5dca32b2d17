import type { Campaign, Command as CampaignCommand, CampaignProgress } from "@outreach/domain/campaigns/Campaign"
import { CampaignBook } from "@outreach/domain/campaigns/CampaignBook"
import { commandCampaign, createCampaign } from "@outreach/domain/campaigns/Campaigns"
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { identifier } from "../inputs/identifier.ts"
import { instant } from "../inputs/instant.ts"
import { name } from "../inputs/name.ts"
import { readHtml } from "../inputs/readHtml.ts"
import { formatRecord, print, printRecord } from "../output/Output.ts"

const campaignId = Argument.String("campaign").pipe(
  Argument.withDescription("The campaign's id, cmp_…"),
  Argument.filterMap(...identifier("campaign")),
)

const time = (flag: string, what: string) =>
  Flag.String(flag).pipe(
    Flag.withDescription(`${what}, a time such as 2026-12-01T09:00:00Z`),
    Flag.filterMap(...instant),
  )

const create = Command.make(
  "create",
  {
    programId: Flag.String("program").pipe(
      Flag.withDescription("The program's id, pgm_…"),
      Flag.filterMap(...identifier("program")),
    ),
    name: Flag.String("name").pipe(Flag.withDescription("The campaign's name"), Flag.filterMap(...name)),
    kind: Flag.Literals("kind", ["traffic", "survey"]).pipe(
      Flag.withDescription("Only traffic campaigns (the default) are forwarded to the partner"),
      Flag.withDefault("traffic" as const),
    ),
    subject: Flag.String("subject").pipe(
      Flag.withDescription("The e-mails' subject; may name {{ program_name }}, {{ campaign_name }} and {{ token }}"),
      Flag.filterMap(...name),
    ),
    html: Flag.String("html").pipe(
      Flag.withMetavar("file"),
      Flag.withDescription("The file that holds the e-mails' body, with the same names"),
    ),
    windowStart: time("window-start", "When the e-mails begin to go out"),
    windowEnd: time("window-end", "When no more go out"),
  },
  Effect.fn("ops.campaigns.create")(function* (input) {
    yield* printCampaign(yield* createCampaign({ ...input, html: yield* readHtml(input.html) }))
  }),
).pipe(Command.withDescription("Add a campaign as a draft; nothing is sent before it is scheduled"))

const command = (command: CampaignCommand, description: string) =>
  Command.make(
    command,
    { campaignId },
    Effect.fn(`ops.campaigns.${command}`)(function* (input) {
      yield* printCampaign(yield* commandCampaign(input.campaignId, command))
    }),
  ).pipe(Command.withDescription(description))

const show = Command.make(
  "show",
  { campaignId },
  Effect.fn("ops.campaigns.show")(function* (input) {
    const book = yield* CampaignBook
    const { html, ...campaign } = yield* book.find(input.campaignId)
    const progress = yield* book.progress(input.campaignId)
    yield* print(
      { ...campaign, html, progress },
      () => `${formatRecord({ ...campaign, ...progress })}\n\n${formatProgress(progress)}`,
    )
  }),
).pipe(Command.withDescription("Show a campaign's status and how far it has come"))

/** `ops campaigns …` */
export const campaigns = Command.make("campaigns").pipe(
  Command.withDescription("E-mails to lists of recipients"),
  Command.withSubcommands([
    create,
    command("schedule", "Let a draft or paused campaign be published, and sent inside its window"),
    command("pause", "Hold a campaign; schedule it again to go on"),
    command("cancel", "End a campaign for good; what was sent stays sent"),
    show,
  ]),
)

const printCampaign = ({ html: _, ...campaign }: Campaign) => printRecord(campaign)

const WIDTH = 40

/** Draws how many of the recipients the mail server has answered for. */
const formatProgress = ({ recipients, sent, bounced }: CampaignProgress): string => {
  const share = recipients === 0 ? 0 : (sent + bounced) / recipients
  const done = Math.floor(share * WIDTH)
  const counts = `${sent} sent and ${bounced} bounced of ${recipients}`
  return `${"█".repeat(done)}${"░".repeat(WIDTH - done)} ${Math.floor(share * 100)}%, ${counts}`
}
