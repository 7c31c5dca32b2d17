import { Settlements } from "@outreach/domain/mail/Settlements"
import { Layer } from "effect"
import { ClockWatch } from "./ClockWatch.ts"
import { CampaignRepositoryPg } from "./campaigns/CampaignRepositoryPg.ts"
import { DeliveryLeasesPg } from "./deliveries/DeliveryLeasesPg.ts"
import { DeliveryRepositoryPg } from "./deliveries/DeliveryRepositoryPg.ts"
import { EndpointRepositoryPg } from "./deliveries/EndpointRepositoryPg.ts"
import { FailingEndpointRepositoryPg } from "./deliveries/FailingEndpointRepositoryPg.ts"
import { ReplayJobQueuePg } from "./deliveries/ReplayJobQueuePg.ts"
import { SigningSecretRepositoryPg } from "./deliveries/SigningSecretRepositoryPg.ts"
import { DigestRepositoryPg } from "./digest/DigestRepositoryPg.ts"
import { ErasureRepositoryPg } from "./erasure/ErasureRepositoryPg.ts"
import { EventFeed } from "./events/EventFeed.ts"
import { EventPublisherPg } from "./events/EventPublisherPg.ts"
import { Hints } from "./events/Hints.ts"
import { HitRepositoryPg } from "./hits/HitRepositoryPg.ts"
import { IdempotencyRepositoryPg } from "./idempotency/IdempotencyRepositoryPg.ts"
import { InboxRepositoryPg } from "./inbox/InboxRepositoryPg.ts"
import { BounceRepositoryPg } from "./mail/BounceRepositoryPg.ts"
import { MessageQueuePg } from "./mail/MessageQueuePg.ts"
import { OldRows } from "./OldRows.ts"
import { FactReader } from "./operators/FactReader.ts"
import { OperatorRepositoryPg } from "./operators/OperatorRepositoryPg.ts"
import { ApiKeyRepositoryPg } from "./organizations/ApiKeyRepositoryPg.ts"
import { OrganizationRepositoryPg } from "./organizations/OrganizationRepositoryPg.ts"
import { ProgramRepositoryPg } from "./programs/ProgramRepositoryPg.ts"
import { RecipientRepositoryPg } from "./recipients/RecipientRepositoryPg.ts"
import { RestoreRepositoryPg } from "./restores/RestoreRepositoryPg.ts"
import { LinkDomainRepositoryPg } from "./senders/LinkDomainRepositoryPg.ts"
import { SenderRepositoryPg } from "./senders/SenderRepositoryPg.ts"
import { ErasedClinicianRepositoryPg } from "./suppressions/ErasedClinicianRepositoryPg.ts"
import { SuppressionRepositoryPg } from "./suppressions/SuppressionRepositoryPg.ts"
import { UnsubscriptionRepositoryPg } from "./suppressions/UnsubscriptionRepositoryPg.ts"
import { TransactionPg } from "./TransactionPg.ts"

/** All adapters of the domain's ports, and the queries of the processes. Requires the database, the deployment and the cipher. */
export const adapters = Layer.merge(Settlements.layer, ErasureRepositoryPg).pipe(
  Layer.provideMerge(
    Layer.mergeAll(
      TransactionPg,
      OrganizationRepositoryPg,
      ApiKeyRepositoryPg,
      OperatorRepositoryPg,
      ProgramRepositoryPg,
      CampaignRepositoryPg,
      RecipientRepositoryPg,
      DigestRepositoryPg,
      EventPublisherPg,
      EventFeed.layer,
      EndpointRepositoryPg,
      FailingEndpointRepositoryPg,
      SigningSecretRepositoryPg,
      DeliveryRepositoryPg,
      DeliveryLeasesPg,
      ReplayJobQueuePg,
      OldRows.layer,
      ClockWatch.layer,
      FactReader.layer,
      SenderRepositoryPg,
      LinkDomainRepositoryPg,
      MessageQueuePg,
      BounceRepositoryPg,
      HitRepositoryPg,
      InboxRepositoryPg,
      IdempotencyRepositoryPg,
      ErasedClinicianRepositoryPg,
      SuppressionRepositoryPg,
      UnsubscriptionRepositoryPg,
      RestoreRepositoryPg,
    ),
  ),
  Layer.provideMerge(Hints.layer),
)
