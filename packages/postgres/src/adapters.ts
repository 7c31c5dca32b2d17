import { Layer } from "effect"
import { BounceLedgerPg } from "./BounceLedgerPg.ts"
import { CampaignBookPg } from "./CampaignBookPg.ts"
import { DeliveryGaugesPg } from "./DeliveryGaugesPg.ts"
import { DeliveryHistoryPg } from "./DeliveryHistoryPg.ts"
import { DeliveryLedgerPg } from "./DeliveryLedgerPg.ts"
import { DigestLedgerPg } from "./DigestLedgerPg.ts"
import { EndpointBookPg } from "./EndpointBookPg.ts"
import { EndpointReadersPg } from "./EndpointReadersPg.ts"
import { EventFeedPg } from "./EventFeedPg.ts"
import { HintsPg } from "./HintsPg.ts"
import { HitLedgerPg } from "./HitLedgerPg.ts"
import { IdempotencyLedgerPg } from "./IdempotencyLedgerPg.ts"
import { InboxApplierPg } from "./InboxApplierPg.ts"
import { InboxLedgerPg } from "./InboxLedgerPg.ts"
import { InboxPg } from "./InboxPg.ts"
import { KeyRingPg } from "./KeyRingPg.ts"
import { MessageQueuePg } from "./MessageQueuePg.ts"
import { OrganizationRegistryPg } from "./OrganizationRegistryPg.ts"
import { ProgramCatalogPg } from "./ProgramCatalogPg.ts"
import { RecipientRegisterPg } from "./RecipientRegisterPg.ts"
import { ReplayBookPg } from "./ReplayBookPg.ts"
import { SecretLedgerPg } from "./SecretLedgerPg.ts"
import { SecretVaultPg } from "./SecretVaultPg.ts"
import { SuppressionSetPg } from "./SuppressionSetPg.ts"
import { TimelineReaderPg } from "./TimelineReaderPg.ts"
import { UnsubscriptionLedgerPg } from "./UnsubscriptionLedgerPg.ts"

/** Every adapter of the domain's ports; needs the database, the deployment and the cipher. */
export const adapters = Layer.mergeAll(
  OrganizationRegistryPg,
  KeyRingPg,
  ProgramCatalogPg,
  CampaignBookPg,
  RecipientRegisterPg,
  EventFeedPg,
  DigestLedgerPg,
  EndpointBookPg,
  SecretVaultPg,
  SecretLedgerPg,
  EndpointReadersPg,
  DeliveryLedgerPg,
  DeliveryHistoryPg,
  DeliveryGaugesPg,
  ReplayBookPg,
  MessageQueuePg,
  BounceLedgerPg,
  HitLedgerPg,
  UnsubscriptionLedgerPg,
  IdempotencyLedgerPg,
  InboxPg,
  InboxApplierPg,
  InboxLedgerPg,
  SuppressionSetPg,
  TimelineReaderPg,
).pipe(Layer.provideMerge(HintsPg))
