/** The folders of the published packages, in the order of publication: each package after the packages that it needs. */
export const publishedFolders = ['client', 'contract', 'testing', 'alerts'];
