import { INBOUND_OVERLAP_SECONDS, type Restore, type RestoredOrganization } from "@outreach/domain/restores/Restore"
import { RestoreRepository } from "@outreach/domain/restores/RestoreRepository"
import { fromUnixMillis, type Timestamp, toUnixMillis } from "@outreach/domain/Timestamp"
import { Effect } from "effect"
import { formatRecord, formatRows } from "../output/Output.ts"

/** Reads what a restore has changed, and what each partner must do about it. */
export const restoreReport = Effect.fnUntraced(function* (restore: Restore) {
  const restores = yield* RestoreRepository
  const campaigns = yield* restores.campaigns(restore.id)
  const organizations = yield* restores.organizations(restore.id)
  const inbound = inboundPeriod(restore)
  return {
    state: restore.finishedAt === null ? "restoring" : "finished",
    restore,
    campaigns,
    partners: organizations.map((organization) => ({
      ...organization,
      since: organization.restoredAt,
      inboundFrom: inbound.from,
      inboundTo: inbound.to,
      text: partnerText(organization, restore, inbound),
    })),
  }
})

/** The time in which partners sent what may be lost; it ends when the restore is finished. */
const inboundPeriod = ({ restoredTo, lastTransactionAt, finishedAt }: Restore) => {
  const last = lastTransactionAt !== null && lastTransactionAt < restoredTo ? lastTransactionAt : restoredTo
  return { from: fromUnixMillis(toUnixMillis(last) - INBOUND_OVERLAP_SECONDS * 1000), to: finishedAt }
}

const partnerText = (
  { name, restoredAt, fencedAt, endpoints }: RestoredOrganization,
  { restoredTo }: Restore,
  inbound: { readonly from: Timestamp; readonly to: Timestamp | null },
): string =>
  [
    `To ${name}: we have restored our database to ${restoredTo}. Please do the following.`,
    `1. Go on polling from your checkpoint. Nothing new appears at or before ${fencedAt}.`,
    `2. Read the feed and the recipients once from since=${restoredAt}. Events and records that you hold, with an emitted_at or updated_at after that time and not after ${fencedAt}, are gone here. What still holds comes again with a later time, and events with another event_id.`,
    `3. Send us again each webhook that we acknowledged from ${inbound.from} to ${inbound.to ?? "the end of the restore"}. Each event_id is applied once, so you may send more.`,
    ...endpoints.map(
      ({ id, url, repeatsFrom }) =>
        `4. ${url} (${id}) receives again what was published after ${repeatsFrom}, with the same event_id where the event is the same.`,
    ),
  ].join("\n")

export const formatReport = ({
  restore,
  state,
  campaigns,
  partners,
}: Effect.Success<ReturnType<typeof restoreReport>>) => [
  formatRecord({ state, ...restore }),
  `Campaigns that the restore paused, because they may have sent e-mails after the point:\n${formatRows(campaigns, ["id", "name", "statusBefore", "status", "unsent"])}`,
  ...partners.map(({ text }) => text),
]
