import { defineConfig } from 'vitest/config';

export default defineConfig({ test: { globalSetup: './itsm.ts' } });
