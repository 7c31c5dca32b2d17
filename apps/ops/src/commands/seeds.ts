import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { SeedRepository } from "@outreach/domain/mail/SeedRepository"
import { CampaignRepositoryPg } from "@outreach/postgres/campaigns/CampaignRepositoryPg"
import { SeedRepositoryPg } from "@outreach/postgres/mail/SeedRepositoryPg"
import { Layer } from "effect"
import { SEED_COLUMNS, withState } from "../campaigns/seeds.ts"
import { group, reading } from "../Declaration.ts"
import { campaignFlag, MAX_ROWS } from "../inputs/filters.ts"

const list = reading({
  about:
    "List a campaign's messages to seeds, newest first: refused, accepted, bounced, opened, clicked or unsubscribed. A provider's scanner may be the first to open or click",
  input: { campaignId: campaignFlag },
  key: ["email", "createdAt"],
  *run({ campaignId }) {
    yield* CampaignRepository.use(({ find }) => find(campaignId))
    return (yield* SeedRepository.use(({ list }) => list(campaignId, MAX_ROWS))).map(withState)
  },
  columns: SEED_COLUMNS,
})

export const seeds = group({
  about: "Messages of campaigns to your own mailboxes",
  commands: { list },
  services: Layer.merge(CampaignRepositoryPg, SeedRepositoryPg),
})
