import { workspaceFlag } from '../audit/workspace-flag.ts';

/** Whether the workspace rejects custom fields without a definition. A change of this setting changes no stored value. */
export const { isOn: getStrictMode, set: setStrictMode } = workspaceFlag('strict_custom_fields', 'strictCustomFields');
