-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "public";

-- CreateEnum
CREATE TYPE "UserRole" AS ENUM ('ADMIN', 'AGENT', 'REQUESTER');

-- CreateEnum
CREATE TYPE "TicketType" AS ENUM ('INCIDENT', 'PROBLEM', 'CHANGE', 'SERVICE_REQUEST');

-- CreateEnum
CREATE TYPE "TicketStatus" AS ENUM ('OPEN', 'IN_PROGRESS', 'PENDING', 'RESOLVED', 'CLOSED', 'CANCELLED');

-- CreateEnum
CREATE TYPE "Priority" AS ENUM ('LOW', 'MEDIUM', 'HIGH', 'CRITICAL');

-- CreateEnum
CREATE TYPE "TicketCategory" AS ENUM ('SOFTWARE', 'HARDWARE', 'NETWORK', 'ACCESS', 'EMAIL', 'OTHER');

-- CreateEnum
CREATE TYPE "AssetType" AS ENUM ('LAPTOP', 'DESKTOP', 'SERVER', 'MOBILE', 'NETWORK', 'PRINTER', 'SOFTWARE', 'OTHER');

-- CreateEnum
CREATE TYPE "AssetStatus" AS ENUM ('ON_ORDER', 'IN_STOCK', 'IN_TRANSIT', 'IN_USE', 'MAINTENANCE', 'RETIRED', 'DISPOSED', 'LOST');

-- CreateEnum
CREATE TYPE "ProjectStatus" AS ENUM ('PLANNED', 'ACTIVE', 'ON_HOLD', 'COMPLETED', 'CANCELLED');

-- CreateEnum
CREATE TYPE "TaskStatus" AS ENUM ('TODO', 'IN_PROGRESS', 'BLOCKED', 'DONE', 'CANCELLED');

-- CreateEnum
CREATE TYPE "DeliveryState" AS ENUM ('PENDING', 'DELIVERED', 'EXHAUSTED', 'CANCELLED');

-- CreateTable
CREATE TABLE "tenants" (
    "id" BIGSERIAL NOT NULL,
    "name" TEXT NOT NULL,
    "name_key" TEXT NOT NULL,
    "active" BOOLEAN NOT NULL DEFAULT true,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "tenants_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "users" (
    "tenant_id" BIGINT NOT NULL DEFAULT 0,
    "id" BIGSERIAL NOT NULL,
    "name" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "role" "UserRole" NOT NULL,
    "active" BOOLEAN NOT NULL DEFAULT true,
    "job_title" TEXT,
    "department" TEXT,
    "phone" TEXT,
    "time_zone" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "users_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateTable
CREATE TABLE "api_keys" (
    "tenant_id" BIGINT NOT NULL DEFAULT 0,
    "id" BIGSERIAL NOT NULL,
    "user_id" BIGINT NOT NULL,
    "name" TEXT NOT NULL,
    "hash" BYTEA NOT NULL,
    "last_four" TEXT NOT NULL,
    "scopes" TEXT[],
    "expires_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateTable
CREATE TABLE "tickets" (
    "tenant_id" BIGINT NOT NULL DEFAULT 0,
    "id" BIGSERIAL NOT NULL,
    "type" "TicketType" NOT NULL,
    "number" INTEGER NOT NULL,
    "title" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "status" "TicketStatus" NOT NULL DEFAULT 'OPEN',
    "priority" "Priority" NOT NULL DEFAULT 'MEDIUM',
    "category" "TicketCategory",
    "category_config_id" TEXT,
    "requester_id" BIGINT NOT NULL,
    "assignee_id" BIGINT,
    "parent_id" BIGINT,
    "custom_fields" JSONB NOT NULL DEFAULT '{}',
    "resolution" TEXT,
    "resolved_at" TIMESTAMPTZ(3),
    "closed_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "tickets_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateTable
CREATE TABLE "ticket_watchers" (
    "tenant_id" BIGINT NOT NULL DEFAULT 0,
    "ticket_id" BIGINT NOT NULL,
    "user_id" BIGINT NOT NULL,

    CONSTRAINT "ticket_watchers_pkey" PRIMARY KEY ("tenant_id","ticket_id","user_id")
);

-- CreateTable
CREATE TABLE "ticket_numbers" (
    "tenant_id" BIGINT NOT NULL DEFAULT 0,
    "type" "TicketType" NOT NULL,
    "last" INTEGER NOT NULL,

    CONSTRAINT "ticket_numbers_pkey" PRIMARY KEY ("tenant_id","type")
);

-- CreateTable
CREATE TABLE "assets" (
    "tenant_id" BIGINT NOT NULL DEFAULT 0,
    "id" BIGSERIAL NOT NULL,
    "name" TEXT NOT NULL,
    "asset_tag" TEXT NOT NULL,
    "serial_number" TEXT,
    "type" "AssetType" NOT NULL,
    "status" "AssetStatus" NOT NULL DEFAULT 'IN_STOCK',
    "manufacturer" TEXT,
    "model" TEXT,
    "location" TEXT,
    "assigned_to_id" BIGINT,
    "purchase_date" DATE,
    "purchase_cost" DECIMAL(14,2),
    "warranty_expires_at" TIMESTAMPTZ(3),
    "notes" TEXT,
    "custom_fields" JSONB NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "assets_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateTable
CREATE TABLE "projects" (
    "tenant_id" BIGINT NOT NULL DEFAULT 0,
    "id" BIGSERIAL NOT NULL,
    "key" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "status" "ProjectStatus" NOT NULL DEFAULT 'PLANNED',
    "priority" "Priority" NOT NULL DEFAULT 'MEDIUM',
    "manager_id" BIGINT,
    "start_date" DATE,
    "end_date" DATE,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "projects_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateTable
CREATE TABLE "tasks" (
    "tenant_id" BIGINT NOT NULL DEFAULT 0,
    "id" BIGSERIAL NOT NULL,
    "project_id" BIGINT NOT NULL,
    "title" TEXT NOT NULL,
    "description" TEXT,
    "status" "TaskStatus" NOT NULL DEFAULT 'TODO',
    "priority" "Priority" NOT NULL DEFAULT 'MEDIUM',
    "assignee_id" BIGINT,
    "start_date" DATE,
    "due_date" DATE,
    "completed_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "tasks_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateTable
CREATE TABLE "webhook_subscriptions" (
    "tenant_id" BIGINT NOT NULL DEFAULT 0,
    "id" BIGSERIAL NOT NULL,
    "url" TEXT NOT NULL,
    "secret" BYTEA NOT NULL,
    "events" TEXT[],
    "active" BOOLEAN NOT NULL DEFAULT true,
    "last_success_at" TIMESTAMPTZ(3),
    "last_failure_at" TIMESTAMPTZ(3),
    "paused_at" TIMESTAMPTZ(3),
    "paused_reason" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "webhook_subscriptions_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateTable
CREATE TABLE "events" (
    "tenant_id" BIGINT NOT NULL DEFAULT 0,
    "id" BIGSERIAL NOT NULL,
    "public_id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "events_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateTable
CREATE TABLE "deliveries" (
    "tenant_id" BIGINT NOT NULL DEFAULT 0,
    "id" BIGSERIAL NOT NULL,
    "subscription_id" BIGINT NOT NULL,
    "event_id" BIGINT NOT NULL,
    "state" "DeliveryState" NOT NULL DEFAULT 'PENDING',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "deliveries_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateIndex
CREATE UNIQUE INDEX "tenants_name_key_key" ON "tenants"("name_key");

-- CreateIndex
CREATE INDEX "users_tenant_id_role_id_idx" ON "users"("tenant_id", "role", "id" DESC);

-- CreateIndex
CREATE INDEX "users_tenant_id_active_id_idx" ON "users"("tenant_id", "active", "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "users_tenant_id_email_key" ON "users"("tenant_id", "email");

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_hash_key" ON "api_keys"("hash");

-- CreateIndex
CREATE INDEX "api_keys_tenant_id_user_id_idx" ON "api_keys"("tenant_id", "user_id");

-- CreateIndex
CREATE INDEX "tickets_tenant_id_status_id_idx" ON "tickets"("tenant_id", "status", "id" DESC);

-- CreateIndex
CREATE INDEX "tickets_tenant_id_priority_id_idx" ON "tickets"("tenant_id", "priority", "id" DESC);

-- CreateIndex
CREATE INDEX "tickets_tenant_id_assignee_id_id_idx" ON "tickets"("tenant_id", "assignee_id", "id" DESC);

-- CreateIndex
CREATE INDEX "tickets_tenant_id_type_id_idx" ON "tickets"("tenant_id", "type", "id" DESC);

-- CreateIndex
CREATE INDEX "tickets_tenant_id_category_id_idx" ON "tickets"("tenant_id", "category", "id" DESC);

-- CreateIndex
CREATE INDEX "tickets_tenant_id_parent_id_idx" ON "tickets"("tenant_id", "parent_id");

-- CreateIndex
CREATE UNIQUE INDEX "tickets_tenant_id_type_number_key" ON "tickets"("tenant_id", "type", "number");

-- CreateIndex
CREATE INDEX "assets_tenant_id_status_id_idx" ON "assets"("tenant_id", "status", "id" DESC);

-- CreateIndex
CREATE INDEX "assets_tenant_id_type_id_idx" ON "assets"("tenant_id", "type", "id" DESC);

-- CreateIndex
CREATE INDEX "assets_tenant_id_assigned_to_id_id_idx" ON "assets"("tenant_id", "assigned_to_id", "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "assets_tenant_id_asset_tag_key" ON "assets"("tenant_id", "asset_tag");

-- CreateIndex
CREATE INDEX "projects_tenant_id_status_id_idx" ON "projects"("tenant_id", "status", "id" DESC);

-- CreateIndex
CREATE INDEX "projects_tenant_id_manager_id_idx" ON "projects"("tenant_id", "manager_id");

-- CreateIndex
CREATE UNIQUE INDEX "projects_tenant_id_key_key" ON "projects"("tenant_id", "key");

-- CreateIndex
CREATE INDEX "tasks_tenant_id_project_id_id_idx" ON "tasks"("tenant_id", "project_id", "id" DESC);

-- CreateIndex
CREATE INDEX "tasks_tenant_id_project_id_status_id_idx" ON "tasks"("tenant_id", "project_id", "status", "id" DESC);

-- CreateIndex
CREATE INDEX "tasks_tenant_id_project_id_priority_id_idx" ON "tasks"("tenant_id", "project_id", "priority", "id" DESC);

-- CreateIndex
CREATE INDEX "tasks_tenant_id_project_id_assignee_id_id_idx" ON "tasks"("tenant_id", "project_id", "assignee_id", "id" DESC);

-- CreateIndex
CREATE INDEX "tasks_tenant_id_assignee_id_idx" ON "tasks"("tenant_id", "assignee_id");

-- CreateIndex
CREATE INDEX "webhook_subscriptions_tenant_id_active_id_idx" ON "webhook_subscriptions"("tenant_id", "active", "id" DESC);

-- CreateIndex
CREATE INDEX "events_tenant_id_type_id_idx" ON "events"("tenant_id", "type", "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "events_tenant_id_public_id_key" ON "events"("tenant_id", "public_id");

-- CreateIndex
CREATE INDEX "deliveries_tenant_id_subscription_id_state_id_idx" ON "deliveries"("tenant_id", "subscription_id", "state", "id");

-- CreateIndex
CREATE UNIQUE INDEX "deliveries_tenant_id_event_id_subscription_id_key" ON "deliveries"("tenant_id", "event_id", "subscription_id");

-- AddForeignKey
ALTER TABLE "users" ADD CONSTRAINT "users_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_tenant_id_user_id_fkey" FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tickets" ADD CONSTRAINT "tickets_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tickets" ADD CONSTRAINT "tickets_tenant_id_requester_id_fkey" FOREIGN KEY ("tenant_id", "requester_id") REFERENCES "users"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tickets" ADD CONSTRAINT "tickets_tenant_id_assignee_id_fkey" FOREIGN KEY ("tenant_id", "assignee_id") REFERENCES "users"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tickets" ADD CONSTRAINT "tickets_tenant_id_parent_id_fkey" FOREIGN KEY ("tenant_id", "parent_id") REFERENCES "tickets"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ticket_watchers" ADD CONSTRAINT "ticket_watchers_tenant_id_ticket_id_fkey" FOREIGN KEY ("tenant_id", "ticket_id") REFERENCES "tickets"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ticket_watchers" ADD CONSTRAINT "ticket_watchers_tenant_id_user_id_fkey" FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ticket_numbers" ADD CONSTRAINT "ticket_numbers_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "assets" ADD CONSTRAINT "assets_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "assets" ADD CONSTRAINT "assets_tenant_id_assigned_to_id_fkey" FOREIGN KEY ("tenant_id", "assigned_to_id") REFERENCES "users"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "projects" ADD CONSTRAINT "projects_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "projects" ADD CONSTRAINT "projects_tenant_id_manager_id_fkey" FOREIGN KEY ("tenant_id", "manager_id") REFERENCES "users"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tasks" ADD CONSTRAINT "tasks_tenant_id_project_id_fkey" FOREIGN KEY ("tenant_id", "project_id") REFERENCES "projects"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tasks" ADD CONSTRAINT "tasks_tenant_id_assignee_id_fkey" FOREIGN KEY ("tenant_id", "assignee_id") REFERENCES "users"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_subscriptions" ADD CONSTRAINT "webhook_subscriptions_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "events" ADD CONSTRAINT "events_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_tenant_id_subscription_id_fkey" FOREIGN KEY ("tenant_id", "subscription_id") REFERENCES "webhook_subscriptions"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_tenant_id_event_id_fkey" FOREIGN KEY ("tenant_id", "event_id") REFERENCES "events"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- Key invalidation, written by hand (Prisma's schema can't express triggers, and the diff does not look at them).
-- Every process caches the keys it has looked up, and listens on the channel `api_keys`: whatever can make a key stop
-- working, or work differently, notifies it when the change commits. The payload is empty, so that the notifications of
-- one transaction are one. `last_used_at`, which is written all the time, does not notify.
CREATE FUNCTION "notify_api_keys"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('api_keys', '');
  RETURN NULL;
END
$$;

CREATE TRIGGER "api_keys_notify"
  AFTER UPDATE OF "revoked_at", "expires_at", "scopes" OR DELETE ON "api_keys"
  FOR EACH STATEMENT EXECUTE FUNCTION "notify_api_keys"();

CREATE TRIGGER "users_notify_api_keys"
  AFTER UPDATE OF "active" OR DELETE ON "users"
  FOR EACH STATEMENT EXECUTE FUNCTION "notify_api_keys"();

CREATE TRIGGER "tenants_notify_api_keys"
  AFTER UPDATE OF "active" OR DELETE ON "tenants"
  FOR EACH STATEMENT EXECUTE FUNCTION "notify_api_keys"();
