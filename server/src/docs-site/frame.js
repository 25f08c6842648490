// The script that the documentation site and the developer area share. It sets the color theme and adds copy buttons.
// biome-ignore lint/correctness/noUnusedVariables: docs.js or ui/script.js, which follows it in the same script, uses it.
const frame = (() => {
  const root = document.documentElement;
  const prefersDark = matchMedia('(prefers-color-scheme: dark)');
  // Uses the storage key of the API reference, so all pages have the same theme.
  const chosen = () => ['light', 'dark'].find((theme) => theme === localStorage.getItem('colorMode'));
  const isDark = () => (chosen() ?? (prefersDark.matches ? 'dark' : 'light')) === 'dark';

  function applyTheme() {
    if (chosen()) root.dataset.theme = chosen();
  }
  applyTheme();

  function addThemeButton(whenChosen) {
    const button = document.querySelector('.theme');
    const show = () => button.setAttribute('aria-pressed', isDark());
    button.addEventListener('click', () => {
      localStorage.setItem('colorMode', isDark() ? 'light' : 'dark');
      applyTheme();
      whenChosen?.(chosen());
      show();
    });
    prefersDark.addEventListener('change', show);
    show();
    button.hidden = false;
  }

  function addCopyButtons(within) {
    if (!navigator.clipboard) return;
    for (const code of within.querySelectorAll('.code')) {
      const button = document.createElement('button');
      button.type = 'button';
      button.className = 'copy';
      button.textContent = 'Copy';
      button.setAttribute('aria-live', 'polite');
      button.addEventListener('click', async () => {
        await navigator.clipboard.writeText(code.querySelector('code').textContent);
        button.textContent = 'Copied';
        setTimeout(() => (button.textContent = 'Copy'), 1500);
      });
      code.append(button);
    }
  }

  return { addThemeButton, addCopyButtons };
})();
