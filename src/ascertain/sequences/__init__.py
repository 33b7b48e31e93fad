"""The toolbox of state identification: words and trees that tell states apart, bring a machine home, or synchronize."""
