import { Module } from "@nestjs/common"
import { WebhooksService } from "./webhooks.service.ts"

@Module({ providers: [WebhooksService] })
export class AppModule {}
