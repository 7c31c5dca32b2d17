import callers from "../migrations/0001_callers.ts"
import campaigns from "../migrations/0002_campaigns.ts"
import deliveries from "../migrations/0003_deliveries.ts"
import messages from "../migrations/0004_messages.ts"
import inFlight from "../migrations/0005_in_flight.ts"
import lists from "../migrations/0006_lists.ts"
import idempotency from "../migrations/0007_idempotency.ts"
import deliveryHistory from "../migrations/0008_delivery_history.ts"
import replayJobs from "../migrations/0009_replay_jobs.ts"
import eventTraces from "../migrations/0010_event_traces.ts"
import inbox from "../migrations/0011_inbox.ts"
import digest from "../migrations/0012_digest.ts"
import withdrawals from "../migrations/0013_withdrawals.ts"
import qualifications from "../migrations/0014_qualifications.ts"
import mailPaces from "../migrations/0015_mail_paces.ts"
import hits from "../migrations/0016_hits.ts"
import unsubscriptions from "../migrations/0017_unsubscriptions.ts"
import claimMessages from "../migrations/0018_claim_messages.ts"
import deliveredKey from "../migrations/0019_delivered_key.ts"
import plannedClaims from "../migrations/0020_planned_claims.ts"
import hitWindows from "../migrations/0021_hit_windows.ts"
import unknownOutcomes from "../migrations/0022_unknown_outcomes.ts"
import eventsOfRecipient from "../migrations/0023_events_of_recipient.ts"
import inboxAppliedOfClinician from "../migrations/0024_inbox_applied_of_clinician.ts"
import messagesQuarantined from "../migrations/0025_messages_quarantined.ts"
import eventsLog from "../migrations/0026_events_log.ts"
import deliveryFromTheLog from "../migrations/0027_delivery_from_the_log.ts"
import { type Migration, runMigrations } from "./runMigrations.ts"

/** Every change of the schema, in its order. */
export const migrations = {
  "0001_callers": callers,
  "0002_campaigns": campaigns,
  "0003_deliveries": deliveries,
  "0004_messages": messages,
  "0005_in_flight": inFlight,
  "0006_lists": lists,
  "0007_idempotency": idempotency,
  "0008_delivery_history": deliveryHistory,
  "0009_replay_jobs": replayJobs,
  "0010_event_traces": eventTraces,
  "0011_inbox": inbox,
  "0012_digest": digest,
  "0013_withdrawals": withdrawals,
  "0014_qualifications": qualifications,
  "0015_mail_paces": mailPaces,
  "0016_hits": hits,
  "0017_unsubscriptions": unsubscriptions,
  "0018_claim_messages": claimMessages,
  "0019_delivered_key": deliveredKey,
  "0020_planned_claims": plannedClaims,
  "0021_hit_windows": hitWindows,
  "0022_unknown_outcomes": unknownOutcomes,
  "0023_events_of_recipient": eventsOfRecipient,
  "0024_inbox_applied_of_clinician": inboxAppliedOfClinician,
  "0025_messages_quarantined": messagesQuarantined,
  "0026_events_log": eventsLog,
  "0027_delivery_from_the_log": deliveryFromTheLog,
} satisfies Record<string, Migration>

/** Brings the database to the newest schema. */
export const migrate = runMigrations(migrations)
