import { Module } from "@nestjs/common"
import { WebhooksController } from "./webhooks.controller.ts"

@Module({ controllers: [WebhooksController] })
export class AppModule {}
