import { Settlements } from "@outreach/domain/mail/Settlements"
import { Layer } from "effect"
import { ClockWatch } from "./ClockWatch.ts"
import { CampaignCounts } from "./campaigns/CampaignCounts.ts"
import { CampaignRepositoryPg } from "./campaigns/CampaignRepositoryPg.ts"
import { DeadLetterRepositoryPg } from "./deliveries/DeadLetterRepositoryPg.ts"
import { DeliveryGauges } from "./deliveries/DeliveryGauges.ts"
import { DeliveryLeasesPg } from "./deliveries/DeliveryLeasesPg.ts"
import { DeliveryOutcomes } from "./deliveries/DeliveryOutcomes.ts"
import { DeliveryRepositoryPg } from "./deliveries/DeliveryRepositoryPg.ts"
import { EndpointRepositoryPg } from "./deliveries/EndpointRepositoryPg.ts"
import { FailingEndpointRepositoryPg } from "./deliveries/FailingEndpointRepositoryPg.ts"
import { FailureGroupRepositoryPg } from "./deliveries/FailureGroupRepositoryPg.ts"
import { ReplayJobQueuePg } from "./deliveries/ReplayJobQueuePg.ts"
import { SigningSecretRepositoryPg } from "./deliveries/SigningSecretRepositoryPg.ts"
import { DigestRepositoryPg } from "./digest/DigestRepositoryPg.ts"
import { ErasureRepositoryPg } from "./erasure/ErasureRepositoryPg.ts"
import { EventFeed } from "./events/EventFeed.ts"
import { HintsPg } from "./events/HintsPg.ts"
import { HitRepositoryPg } from "./hits/HitRepositoryPg.ts"
import { IdempotencyRepositoryPg } from "./idempotency/IdempotencyRepositoryPg.ts"
import { InboxRepositoryPg } from "./inbox/InboxRepositoryPg.ts"
import { BounceRepositoryPg } from "./mail/BounceRepositoryPg.ts"
import { MessageQueuePg } from "./mail/MessageQueuePg.ts"
import { OperatorRepositoryPg } from "./operators/OperatorRepositoryPg.ts"
import { ApiKeyRepositoryPg } from "./organizations/ApiKeyRepositoryPg.ts"
import { OrganizationRepositoryPg } from "./organizations/OrganizationRepositoryPg.ts"
import { Partitions } from "./Partitions.ts"
import { ProgramRepositoryPg } from "./programs/ProgramRepositoryPg.ts"
import { RecipientRepositoryPg } from "./recipients/RecipientRepositoryPg.ts"
import { RestoreRepositoryPg } from "./restores/RestoreRepositoryPg.ts"
import { LinkDomainRepositoryPg } from "./senders/LinkDomainRepositoryPg.ts"
import { SenderRepositoryPg } from "./senders/SenderRepositoryPg.ts"
import { ErasedClinicianRepositoryPg } from "./suppressions/ErasedClinicianRepositoryPg.ts"
import { SuppressionRepositoryPg } from "./suppressions/SuppressionRepositoryPg.ts"
import { UnsubscriptionRepositoryPg } from "./suppressions/UnsubscriptionRepositoryPg.ts"
import { WithdrawalRepositoryPg } from "./suppressions/WithdrawalRepositoryPg.ts"
import { TransactionPg } from "./TransactionPg.ts"

const settlements = Layer.provideMerge(Settlements.layer, Layer.merge(TransactionPg, MessageQueuePg))

/** All adapters of the domain's ports, their batch writers, and the queries of the processes. Requires the database, the deployment and the cipher. */
export const adapters = Layer.mergeAll(
  OrganizationRepositoryPg,
  ApiKeyRepositoryPg,
  OperatorRepositoryPg,
  ProgramRepositoryPg,
  CampaignRepositoryPg,
  CampaignCounts.layer,
  RecipientRepositoryPg,
  EventFeed.layer,
  DigestRepositoryPg,
  EndpointRepositoryPg,
  FailingEndpointRepositoryPg,
  SigningSecretRepositoryPg,
  DeliveryLeasesPg,
  DeliveryRepositoryPg,
  DeadLetterRepositoryPg,
  FailureGroupRepositoryPg,
  DeliveryOutcomes.layer,
  Partitions.layer,
  ClockWatch.layer,
  DeliveryGauges.layer,
  ReplayJobQueuePg,
  settlements,
  SenderRepositoryPg,
  LinkDomainRepositoryPg,
  BounceRepositoryPg,
  HitRepositoryPg,
  UnsubscriptionRepositoryPg,
  IdempotencyRepositoryPg,
  InboxRepositoryPg,
  SuppressionRepositoryPg,
  WithdrawalRepositoryPg,
  RestoreRepositoryPg,
  ErasureRepositoryPg,
).pipe(Layer.provideMerge(ErasedClinicianRepositoryPg), Layer.provideMerge(HintsPg))
